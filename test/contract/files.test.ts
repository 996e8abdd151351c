import { memoryFiles } from "../../src/adapters/memory/files.ts";
import { systemFiles } from "../../src/adapters/node/system-files.ts";
import { tempDir } from "../support/temp-dir.ts";
import { filesContract } from "./files.contract.ts";

filesContract("memory", () => ({ files: memoryFiles(), root: "/nowhere" }));
filesContract("system", () => {
  const root = tempDir();
  return { files: systemFiles({ dataDir: root }), root };
});
