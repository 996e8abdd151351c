import { join } from "node:path";
import { memoryStore } from "../../src/adapters/memory/store.ts";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { tempDir } from "../support/temp-dir.ts";
import { operationStoreContract } from "./operation-store.contract.ts";

operationStoreContract("memory", memoryStore);
operationStoreContract("sqlite", () => sqliteStore({ path: join(tempDir(), "ao.db") }));
