import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { memoryPrograms } from "../../src/adapters/memory/programs.ts";
import { systemPrograms } from "../../src/adapters/node/system-programs.ts";
import { tempDir } from "../support/temp-dir.ts";
import { programsContract } from "./programs.contract.ts";

programsContract("memory", (executables) => ({
  programs: memoryPrograms(executables.map((path) => join("/nowhere", path))),
  root: "/nowhere",
}));

programsContract("system", (executables) => {
  const root = tempDir();
  for (const path of executables) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "", { mode: 0o755 });
  }
  return { programs: systemPrograms(), root };
});
