import { join } from "node:path";
import { memoryStore } from "../../src/adapters/memory/store.ts";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { tempDir } from "../support/temp-dir.ts";
import { sessionStoreContract } from "./session-store.contract.ts";

sessionStoreContract("memory", () => memoryStore().sessions);
sessionStoreContract("sqlite", () => sqliteStore({ path: join(tempDir(), "ao.db") }).sessions);
