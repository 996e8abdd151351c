import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { execa } from "execa";
import { tempDir } from "../support/temp-dir.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const CONFIGURATION = [
  "biome.json",
  "lint",
  "knip.json",
  "tsconfig.json",
  ".dependency-cruiser.cjs",
  ".gitignore",
];

/** One small file a layer, wired as the architecture wants it, each export used. */
const CLEAN: Readonly<Record<string, string>> = {
  "package.json": '{\n  "name": "gate",\n  "private": true,\n  "type": "module"\n}\n',
  "src/domain/greeting.ts": `/** Says hello. */
export function greeting(name: string): string {
  return \`hello \${name}\`;
}
`,
  "src/ports/printer.ts": `/** Prints. */
export interface Printer {
  print(text: string): Promise<void>;
}
`,
  "src/lifecycle/greet.ts": `import { greeting } from "../domain/greeting.ts";
import type { Printer } from "../ports/printer.ts";

/** Greets. */
export async function greet(printer: Printer, name: string): Promise<void> {
  await printer.print(greeting(name));
}
`,
  "src/adapters/disk/disk-printer.ts": `import { writeFileSync } from "node:fs";
import type { Printer } from "../../ports/printer.ts";

/** Prints to a file. */
export function diskPrinter(path: string): Printer {
  return { print: async (text) => writeFileSync(path, text) };
}
`,
  "src/adapters/memory/memory-printer.ts": `import type { Printer } from "../../ports/printer.ts";

/** Prints nowhere. */
export function memoryPrinter(): Printer {
  return { print: async () => undefined };
}
`,
  "src/compose.ts": `import { diskPrinter } from "./adapters/disk/disk-printer.ts";
import { memoryPrinter } from "./adapters/memory/memory-printer.ts";
import type { Printer } from "./ports/printer.ts";

/** Chooses a printer. */
export function compose(path: string | undefined): Printer {
  return path === undefined ? memoryPrinter() : diskPrinter(path);
}
`,
  "cmd/main.ts": `import { compose } from "../src/compose.ts";
import { greet } from "../src/lifecycle/greet.ts";

await greet(compose(process.argv[2]), "world");
`,
};

/** Files to add to the clean tree, or to put in place of its own, by path. */
export type Plants = Readonly<Record<string, string>>;

/** A tree under the repository's own rules: its configuration and packages, with a tiny source instead. */
export function minimalTree(plants: Plants = {}): string {
  const tree = tempDir("ao-gate");
  for (const name of CONFIGURATION) cpSync(join(REPOSITORY, name), join(tree, name), { recursive: true });
  symlinkSync(join(REPOSITORY, "node_modules"), join(tree, "node_modules"));
  for (const [path, text] of Object.entries({ ...CLEAN, ...plants })) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  return tree;
}

/** The command behind one of the repository's npm scripts, as its words. */
function scriptWords(script: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"));
  return String(scripts[script]).split(" ");
}

export interface CheckResult {
  readonly exitCode: number | undefined;
  readonly output: string;
}

/** Runs a check of the repository, named as in `npm run`, on a tree. */
export async function runCheck(script: "lint" | "deps" | "dead", tree: string): Promise<CheckResult> {
  const [program = "", ...args] = scriptWords(script);
  const { exitCode, all } = await execa(program, args, {
    cwd: tree,
    env: { PATH: process.env["PATH"] ?? "", HOME: tree, NO_COLOR: "1" },
    extendEnv: false,
    preferLocal: true,
    localDir: REPOSITORY,
    reject: false,
    all: true,
    timeout: 60_000,
  });
  return { exitCode, output: stripVTControlCharacters(all) };
}

/** What the continuous integration runs. */
export function ciScript(): string {
  return readFileSync(join(REPOSITORY, ".ci/run"), "utf8");
}
