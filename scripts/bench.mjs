// Measures what docs/performance.md speaks of: npm run bench [-- --only <part of a name>] [-- --compare <file>] [-- --out <file>].
import { spawn } from "node:child_process";
import { once } from "node:events";
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
  const child = spawn(process.execPath, argv, { stdio: "inherit" });
  // Who is interrupted waits for the row that runs to be taken down.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  const [status] = await once(child, "exit");
  process.exitCode = status ?? 1;
} finally {
  rmSync(outfile, { force: true });
}
