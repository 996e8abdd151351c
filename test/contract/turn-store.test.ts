import { join } from "node:path";
import { memoryStore } from "../../src/adapters/memory/store.ts";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { tempDir } from "../support/temp-dir.ts";
import { turnStoreContract } from "./turn-store.contract.ts";

turnStoreContract("memory", memoryStore);
turnStoreContract("sqlite", () => sqliteStore({ path: join(tempDir(), "ao.db") }));
