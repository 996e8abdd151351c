import { memoryStore } from "../../src/adapters/memory/store.ts";
import { changeLogContract } from "./change-log.contract.ts";

changeLogContract("memory", memoryStore);
