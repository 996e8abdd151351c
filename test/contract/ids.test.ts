import { memoryIds } from "../../src/adapters/memory/ids.ts";
import { systemIds } from "../../src/adapters/node/system-ids.ts";
import { idsContract } from "./ids.contract.ts";

idsContract("memory", memoryIds);
idsContract("system", systemIds);
