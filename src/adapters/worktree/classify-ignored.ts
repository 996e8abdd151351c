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

/** Folders written by builds, but people put secrets and databases there as well. */
const OUTPUT_FOLDERS: ReadonlySet<string> = new Set([
  "dist",
  "build",
  "out",
  "target",
  "coverage",
  ".next",
  ".nuxt",
  ".cache",
  ".turbo",
]);

const OUTPUT_FILE = /\.(pyc|pyo|o|class|tsbuildinfo)$|^(\.DS_Store|Thumbs\.db)$/;

/** Environment files, databases with their journals, keys and key stores, SSH keys. */
const PRECIOUS = [
  /^\.env|\.env$/i,
  /^credentials/i,
  /\.(db|db3|sqlite|sqlite3|mdb|duckdb|tfstate)([.-]\w+)?$/i,
  /\.(pem|key|p12|pfx|jks|keystore)$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
];

/**
 * Judges one path relative to the worktree by its names alone. `/` stands between its parts, and at the end
 * of a folder: a plain file that is called like a folder of builds is work.
 */
export function classifyIgnored(path: string): IgnoredKind {
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  const folders = parts.slice(0, -1);
  if (folders.some((part) => TOOL_FOLDERS.has(part))) return "tool";
  if (OUTPUT_FILE.test(name)) return "output";
  if (PRECIOUS.some((pattern) => pattern.test(name))) return "precious";
  return folders.some((part) => OUTPUT_FOLDERS.has(part)) ? "output" : "work";
}
