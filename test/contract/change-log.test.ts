import { join } from "node:path";
import { memoryStore } from "../../src/adapters/memory/store.ts";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { tempDir } from "../support/temp-dir.ts";
import { changeLogContract } from "./change-log.contract.ts";

changeLogContract("memory", memoryStore);
changeLogContract("sqlite", () => sqliteStore({ path: join(tempDir(), "ao.db") }));
