/**
 * What an ignored path is worth.
 *
 * `tool` belongs to a package manager or a cache and is not looked into, `output` is made again by a build,
 * `precious` is a secret or a database wherever it lies, `work` is everything else: nobody can say that it
 * would come back.
 */
export type IgnoredKind = "tool" | "output" | "precious" | "work";

/** Filled by tools alone; certificates and databases in them are the tools' own. */
const TOOL_FOLDERS: ReadonlySet<string> = new Set([
  "node_modules",
  ".venv",
  "venv",
  ".tox",
  ".nox",
  "__pycache__",
  ".mypy_cache",
  ".pytest_cache",
  ".ruff_cache",
  ".gradle",
]);

/** Written by builds, but people put secrets and databases there as well. */
const OUTPUT_NAMES: ReadonlySet<string> = new Set([
  "dist",
  "build",
  "out",
  "target",
  "coverage",
  ".next",
  ".nuxt",
  ".cache",
  ".turbo",
  ".DS_Store",
  "Thumbs.db",
]);

const OUTPUT_FILE = /\.(pyc|pyo|o|class|tsbuildinfo)$/;

/** Environment files, databases with their journals, keys and key stores, SSH keys. */
const PRECIOUS = [
  /^\.env/,
  /\.(db|db3|sqlite|sqlite3|mdb)(-\w+)?$/,
  /\.(pem|key|p12|pfx|jks|keystore)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
];

/** Judges one path relative to the worktree, `/` between its parts, by its names alone. */
export function classifyIgnored(path: string): IgnoredKind {
  const parts = path.split("/").filter((part) => part !== "");
  const name = parts.at(-1) ?? "";
  if (parts.some((part) => TOOL_FOLDERS.has(part))) return "tool";
  if (OUTPUT_NAMES.has(name)) return "output";
  if (PRECIOUS.some((pattern) => pattern.test(name))) return "precious";
  return parts.some((part) => OUTPUT_NAMES.has(part)) || OUTPUT_FILE.test(name) ? "output" : "work";
}
