import { memoryStore } from "../../src/adapters/memory/store.ts";
import { operationStoreContract } from "./operation-store.contract.ts";

operationStoreContract("memory", memoryStore);
