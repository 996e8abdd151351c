// Measures what docs/performance.md speaks of: npm run bench [-- --only <part of a name>] [-- --compare <file>] [-- --out <file>].
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { build } from "esbuild";

const outfile = "test/bench/.bundle.mjs";
const define = { __AO_VERSION__: '"bench"', __AO_FAULTS__: "false" };
const options = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  packages: "external",
  define,
};
await build({ ...options, entryPoints: ["test/bench/main.ts"], outfile, logLevel: "warning" });
try {
  const argv = [outfile, ...process.argv.slice(2)];
  process.exitCode = spawnSync(process.execPath, argv, { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(outfile, { force: true });
}
