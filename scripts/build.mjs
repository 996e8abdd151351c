// Builds dist/: the CLI and the embedded agent as one bundled file each, the library, and its types.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const withTypes = !process.argv.includes("--no-types");

// A native addon cannot be bundled. CommonJS packages inside an ES module bundle still ask for `require`.
const shared = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  external: ["better-sqlite3"],
  define: { __AO_VERSION__: JSON.stringify(version) },
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";const require = __createRequire(import.meta.url);',
  },
  minifySyntax: true,
  legalComments: "none",
  logLevel: "warning",
};
const entries = [
  { entryPoints: ["cmd/main.ts"], outfile: "dist/ao.js" },
  { entryPoints: ["src/adapters/agents/embedded/program/main.ts"], outfile: "dist/embedded-agent.js" },
  { entryPoints: ["src/index.ts"], outfile: "dist/index.js" },
];

if (withTypes) rmSync("dist/types", { recursive: true, force: true });
await Promise.all(
  entries.filter((entry) => existsSync(entry.entryPoints[0])).map((entry) => build({ ...shared, ...entry })),
);
if (existsSync("dist/ao.js")) chmodSync("dist/ao.js", 0o755);
if (withTypes && existsSync("src/index.ts")) {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.types.json"], {
    stdio: "inherit",
  });
}
