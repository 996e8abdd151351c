import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
const PROGRAMS = join(import.meta.dirname, "programs");
/** About 1 GB, installed once; another folder by `AO_AGENTS_CACHE`. */
const CACHE = process.env["AO_AGENTS_CACHE"] ?? join(ROOT, "node_modules", ".cache", "ao-agents");

/** The npm packages, each at the version that programs/package.json pins. */
export type AgentPackage = "@anthropic-ai/claude-code" | "@openai/codex" | "opencode-ai";

function versionIn(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { readonly version?: string };
  return version;
}

function pinned(): Readonly<Record<AgentPackage, string>> {
  const { dependencies } = JSON.parse(readFileSync(join(PROGRAMS, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<AgentPackage, string>>;
  };
  return dependencies;
}

function isComplete(): boolean {
  return Object.entries(pinned()).every(
    ([name, version]) => versionIn(join(CACHE, "node_modules", name, "package.json")) === version,
  );
}

/** Installs what the lock file names, unless it is there. The install counts only once it is whole. */
export function installAgents(): void {
  if (isComplete()) return;
  const draft = `${CACHE}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const name of ["package.json", "package-lock.json"])
    copyFileSync(join(PROGRAMS, name), join(draft, name));
  try {
    // Not `npm ci`: opencode names builds for other systems that the registry does not have, so no lock has them.
    execFileSync("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: draft,
      stdio: "inherit",
    });
    rmSync(CACHE, { recursive: true, force: true });
    renameSync(draft, CACHE);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  if (!isComplete()) throw new Error(`${CACHE} does not hold the pinned agents after npm ci`);
}

/** The folder of `claude`, `codex` and `opencode`, to stand first in a `PATH`. */
export function agentsFolder(): string {
  return join(CACHE, "node_modules", ".bin");
}

/** The version of one of them, as its package says. */
export function agentVersion(name: AgentPackage): string {
  return pinned()[name];
}
