import { access, constants, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import { versionIn } from "../../domain/tested-versions.ts";
import type { ToolCheck } from "../../ports/tool-check.ts";

/** A program is asked for its version this long; opencode 1.18.33 takes 2 s in a fresh home. */
const VERSION_MS = 15_000;
/** How far above its program an npm package has its package.json. */
const LEVELS = 3;

export interface InstalledProgram {
  readonly name: string;
  /** Arguments with which it prints its version. */
  readonly versionArgs: readonly string[];
  /** What to do when it is missing. */
  readonly hint: string;
  /** The environment in which it is asked for its version. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Whether a program is there, by the rules of `Agent.check`. */
export async function checkInstalled(
  program: InstalledProgram,
  path: string,
  asks: "presence" | "version" = "version",
): Promise<ToolCheck> {
  const file = await findIn(program.name, path);
  if (file === undefined) return { kind: "missing", hint: program.hint };
  const packaged = await packagedVersion(file);
  if (packaged !== undefined || asks === "presence") {
    return { kind: "ok", version: packaged ?? "unknown", path: file };
  }
  return askVersion(program, file, path);
}

async function findIn(name: string, path: string): Promise<string | undefined> {
  if (name.includes("/")) return (await isExecutable(name)) ? name : undefined;
  for (const folder of path.split(":").filter((one) => one.startsWith("/"))) {
    const file = join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** The version of the npm package that a program belongs to; `undefined` when it belongs to none. */
async function packagedVersion(file: string): Promise<string | undefined> {
  const target = await realpath(file).catch(() => file);
  if (!target.includes("/node_modules/")) return undefined;
  for (let folder = dirname(target), level = 0; level < LEVELS; folder = dirname(folder), level++) {
    const version = await versionOf(join(folder, "package.json"));
    if (version !== undefined) return version;
  }
  return undefined;
}

async function versionOf(file: string): Promise<string | undefined> {
  try {
    const { version } = JSON.parse(await readFile(file, "utf8")) as { readonly version?: unknown };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

async function askVersion(program: InstalledProgram, file: string, path: string): Promise<ToolCheck> {
  const env = Object.fromEntries(
    Object.entries({ ...program.env, PATH: path }).filter(([, value]) => value !== undefined),
  );
  try {
    const { execa } = await import("execa");
    const options = { cwd: "/", env, extendEnv: false, timeout: VERSION_MS, stdin: "ignore" } as const;
    const { stdout } = await execa(file, [...program.versionArgs], options);
    return { kind: "ok", version: versionIn(stdout) ?? "unknown", path: file };
  } catch (error) {
    return { kind: "failed", cause: errorMessage(error) };
  }
}
