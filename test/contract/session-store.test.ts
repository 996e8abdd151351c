import { join } from "node:path";
import { memorySessionStore } from "../../src/adapters/memory/session-store.ts";
import { sqliteSessionStore } from "../../src/adapters/sqlite/session-store.ts";
import { tempDir } from "../support/temp-dir.ts";
import { sessionStoreContract } from "./session-store.contract.ts";

sessionStoreContract("memory", memorySessionStore);
sessionStoreContract("sqlite", () => sqliteSessionStore({ path: join(tempDir(), "ao.db") }));
