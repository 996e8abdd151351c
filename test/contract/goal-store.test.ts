import { join } from "node:path";
import { memoryStore } from "../../src/adapters/memory/store.ts";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { tempDir } from "../support/temp-dir.ts";
import { goalStoreContract } from "./goal-store.contract.ts";

goalStoreContract("memory", memoryStore);
goalStoreContract("sqlite", () => sqliteStore({ path: join(tempDir(), "ao.db") }));
