// Builds dist/: the CLI and the embedded agent as one bundled file each, the launcher of the CLI with its code
// cache, the library, and its types.
// With --faults it builds dist-faults/ instead: the programs alone, with boundaries at which they can be killed.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const faults = process.argv.includes("--faults");
const withTypes = !faults && !process.argv.includes("--no-types");
const folder = faults ? "dist-faults" : "dist";

// A native addon cannot be bundled; the library leaves its package to whoever installs it. CommonJS packages inside an ES module bundle still ask for `require`.
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
// The addon is asked for by its path: `bindings` would look through many folders for it at each start.
const addon = {
  name: "sqlite-addon",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^bindings$/ }, () => ({ path: "bindings", namespace: "sqlite-addon" }));
    onLoad({ filter: /.*/, namespace: "sqlite-addon" }, () => ({
      contents: 'module.exports = () => require("better-sqlite3/build/Release/better_sqlite3.node");',
      resolveDir: import.meta.dirname,
    }));
  },
};
// The CLI itself is one script that takes `require` and its own URL, so that V8's code cache can serve it.
const main = {
  entryPoints: ["cmd/main.ts"],
  outfile: `${folder}/ao-main.cjs`,
  format: "cjs",
  external: ["*.node"],
  plugins: [addon],
  define: { ...shared.define, "import.meta.url": "__ao_url" },
  banner: { js: "(function (require, __ao_url) {" },
  footer: { js: "})" },
};
const programs = [
  main,
  { entryPoints: ["cmd/launch.ts"], outfile: `${folder}/ao.js`, banner: {} },
  {
    entryPoints: ["src/adapters/agents/embedded/program/main.ts"],
    outfile: `${folder}/embedded-agent.js`,
  },
];
const library = { entryPoints: ["src/index.ts"], outfile: `${folder}/index.js` };
const entries = faults ? programs : [...programs, library];

if (withTypes) rmSync("dist/types", { recursive: true, force: true });
// V8 knows a bundle by its length alone: a cache never stands beside one that it was not made of.
rmSync(`${main.outfile}.cache`, { force: true });
await Promise.all(
  entries.filter((entry) => existsSync(entry.entryPoints[0])).map((entry) => build({ ...shared, ...entry })),
);
// The launcher reads one byte a character, and esbuild leaves regular expressions as they are written.
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
writeFileSync(main.outfile, readFileSync(main.outfile, "utf8").replace(/[^\0-\x7f]/g, escaped));
if (existsSync(`${folder}/ao.js`)) {
  chmodSync(`${folder}/ao.js`, 0o755);
  execFileSync(process.execPath, ["scripts/code-cache.mjs", folder], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}
if (withTypes && existsSync("src/index.ts")) {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.types.json"], {
    stdio: "inherit",
  });
}
