#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

/** The code that V8 compiled when this was built; `undefined` when there is none. */
function codeCache(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

// What the bundle beside this is worth to compile is most of what a short command costs. Another version of
// V8 refuses the cache and compiles as if there were none (node:vm, Script, `cachedData`; Node 20.20).
const bundle = fileURLToPath(new URL("./ao-main.cjs", import.meta.url));
const source = readFileSync(bundle, "latin1");
const cachedData = codeCache(`${bundle}.cache`);
const script = new Script(source, {
  filename: bundle,
  ...(cachedData && { cachedData }),
});
script.runInThisContext()(createRequire(import.meta.url), import.meta.url);
