// Runs the crash suite: npm run test:crash [-- --seeds <number>] [-- <what vitest takes>].
// So many histories of transcripts are run, 1000 if not said, and so many two kills in a row, at most and else 200.
import { spawnSync } from "node:child_process";

const args = process.argv.slice(2);
const at = args.findIndex((arg) => arg === "--seeds" || arg.startsWith("--seeds="));
const env = { ...process.env };
if (at !== -1) {
  const [flag] = args.splice(at, 1);
  env.AO_CRASH_SEEDS = flag.includes("=") ? flag.split("=")[1] : args.splice(at, 1)[0];
}
if (env.AO_CRASH_SEEDS !== undefined && !/^[1-9]\d*$/.test(env.AO_CRASH_SEEDS)) {
  console.error(`--seeds must be a whole number from 1, is ${JSON.stringify(env.AO_CRASH_SEEDS)}`);
  process.exit(2);
}
const argv = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.crash.config.ts", ...args];
process.exitCode = spawnSync(process.execPath, argv, { stdio: "inherit", env }).status ?? 1;
