// Builds dist/: the CLI and the embedded agent as one bundled file each, the library, and its types.
// With --faults it builds dist-faults/ instead: the programs alone, with boundaries at which they can be killed.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const faults = process.argv.includes("--faults");
const withTypes = !faults && !process.argv.includes("--no-types");
const folder = faults ? "dist-faults" : "dist";

// A native addon cannot be bundled. CommonJS packages inside an ES module bundle still ask for `require`.
const shared = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  external: ["better-sqlite3"],
  define: { __AO_VERSION__: JSON.stringify(version), __AO_FAULTS__: String(faults) },
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";const require = __createRequire(import.meta.url);',
  },
  minifySyntax: true,
  legalComments: "none",
  logLevel: "warning",
};
const programs = [
  { entryPoints: ["cmd/main.ts"], outfile: `${folder}/ao.js` },
  {
    entryPoints: ["src/adapters/agents/embedded/program/main.ts"],
    outfile: `${folder}/embedded-agent.js`,
  },
];
const library = { entryPoints: ["src/index.ts"], outfile: `${folder}/index.js` };
const entries = faults ? programs : [...programs, library];

if (withTypes) rmSync("dist/types", { recursive: true, force: true });
await Promise.all(
  entries.filter((entry) => existsSync(entry.entryPoints[0])).map((entry) => build({ ...shared, ...entry })),
);
if (existsSync(`${folder}/ao.js`)) chmodSync(`${folder}/ao.js`, 0o755);
if (withTypes && existsSync("src/index.ts")) {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.types.json"], {
    stdio: "inherit",
  });
}
