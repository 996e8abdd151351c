// Writes the code cache of a built CLI: node scripts/code-cache.mjs <folder>. The script is made as in
// cmd/launch.ts, and runs one short command first, so that what every command uses is compiled in it.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";

const folder = resolve(process.argv[2]);
const bundle = join(folder, "ao-main.cjs");
const url = pathToFileURL(join(folder, "ao.js")).href;
const dataDir = mkdtempSync(join(tmpdir(), "ao-build-"));
process.env.AO_DATA_DIR = join(dataDir, "none");
process.argv = [process.argv[0], join(folder, "ao.js"), "list", "--json"];
process.stdout.write = () => true;

const script = new Script(readFileSync(bundle, "latin1"), { filename: bundle });
script.runInThisContext()(createRequire(url), url);
process.on("exit", () => {
  writeFileSync(`${bundle}.cache.new`, script.createCachedData());
  renameSync(`${bundle}.cache.new`, `${bundle}.cache`);
  rmSync(dataDir, { recursive: true, force: true });
});
