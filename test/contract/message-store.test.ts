import { join } from "node:path";
import { memoryStore } from "../../src/adapters/memory/store.ts";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { tempDir } from "../support/temp-dir.ts";
import { messageStoreContract } from "./message-store.contract.ts";

messageStoreContract("memory", memoryStore);
messageStoreContract("sqlite", () => sqliteStore({ path: join(tempDir(), "ao.db") }));
