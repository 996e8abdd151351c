/**
 * What an ignored path is worth. `tool` lies in a folder that a tool keeps for itself and fills again; its
 * names say nothing. `output` is made again by a build. `work` is everything else: nobody can say that it
 * would come back.
 */
export type IgnoredKind = "tool" | "output" | "work";

/** What is known around an ignored path. Folders and files are relative to the worktree, `/` between parts. */
export interface IgnoredEvidence {
  isTracked(file: string): boolean;
  /** Something in it is tracked: then it is somebody's own, whatever it is called. */
  holdsTracked(folder: string): boolean;
  /** A Python environment: `pyvenv.cfg` lies in it (PEP 405). */
  isPythonEnv(folder: string): boolean;
}

/** Filled by one tool and by nobody else, from what is tracked or what it downloads. */
const TOOL_FOLDERS: ReadonlySet<string> = new Set([
  "node_modules",
  ".tox",
  ".nox",
  ".mypy_cache",
  ".pytest_cache",
  ".ruff_cache",
  ".gradle",
]);

/** What the makers of a Python environment put right into it; a person's files lie beside these. */
const ENV_PARTS: ReadonlySet<string> = new Set([
  "bin",
  "include",
  "lib",
  "lib64",
  "share",
  "Scripts",
  "Include",
  "Lib",
  "pyvenv.cfg",
  "CACHEDIR.TAG",
  ".gitignore",
  ".lock",
]);

/** Named after the one build tool that writes them; people only put secrets there. */
const CACHE_FOLDERS: ReadonlySet<string> = new Set([
  ".next",
  ".nuxt",
  ".svelte-kit",
  ".parcel-cache",
  ".turbo",
]);

/**
 * Folders of builds with everyday names, and the tracked files that, right beside one, prove that a build
 * makes it. Without proof only what is compiled is output.
 */
const BUILD_FOLDERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["target", ["Cargo.toml", "pom.xml", "build.sbt"]],
  [
    "build",
    [
      "package.json",
      "CMakeLists.txt",
      "meson.build",
      "build.gradle",
      "build.gradle.kts",
      "pyproject.toml",
      "setup.py",
    ],
  ],
  ["dist", ["package.json", "pyproject.toml", "setup.py"]],
  ["coverage", ["package.json", "pyproject.toml", "setup.py"]],
  ["out", []],
]);

/** Compiled from a source, wherever they lie; and what file managers leave. */
const COMPILED_ANYWHERE = /\.(pyc|pyo|nbi|nbc|o|class|tsbuildinfo)$|^(\.DS_Store|Thumbs\.db)$/;

/** Written by compilers and bundlers, once they lie in a folder of builds. */
const COMPILED =
  /\.([cm]?js(\.map)?|css(\.map)?|d\.[cm]?ts|a|so|dylib|dll|exe|jar|war|wasm|rlib|rmeta|whl)$/i;

/** Environment files, databases with their journals, keys, key stores, tokens. */
const SECRETS: readonly RegExp[] = [
  /^\.env|\.env$/i,
  /^credentials|^(secrets?|tokens?)(\.(json|ya?ml|toml|ini|txt))?$/i,
  /^\.(npmrc|netrc|pypirc|pgpass|htpasswd)$/i,
  /\.(db|db3|sqlite|sqlite3|mdb|duckdb|tfstate)([.-]\w+)?$/i,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|gpg|asc|ppk)$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
];

/** Documents, data, archives, pictures and the like: in a folder of builds nobody knows where they are from. */
const DOCUMENTS: readonly RegExp[] = [
  /\.(doc|docx|odt|rtf|pdf|epub|md|markdown|org|tex|bib|xls|xlsx|ods|ppt|pptx|odp|ipynb|patch|diff)$/i,
  /\.(csv|tsv|parquet|feather|arrow|avro|orc|jsonl|ndjson|sql|dump|bak|npy|npz|pkl|pickle|joblib|h5|hdf5)$/i,
  /\.(mat|rds|rdata|onnx|pt|pth|ckpt|safetensors|gguf)$/i,
  /\.(zip|tar|gz|tgz|bz2|xz|zst|7z|rar)$/i,
  /\.(png|jpg|jpeg|gif|webp|tif|tiff|bmp|heic|svg|psd|ai|mp3|wav|flac|ogg|mp4|mov|avi|mkv|webm)$/i,
];

/** Judges one ignored path; a folder ends with `/`: a plain file that is called like one is work. */
export function classifyIgnored(path: string, evidence: IgnoredEvidence): IgnoredKind {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const steps = stepsOf(path);
  if (steps.some((step) => isToolsOwn(step, evidence))) return "tool";
  if (COMPILED_ANYWHERE.test(name)) return "output";
  if (isOneOf(SECRETS, name)) return "work";
  switch (zoneOf(steps, evidence)) {
    case "cache":
      return "output";
    case "proven":
      return isOneOf(DOCUMENTS, name) ? "work" : "output";
    case "build":
      return COMPILED.test(name) ? "output" : "work";
    case "open":
      return "work";
  }
}

/** One part of a path with what is before it. */
interface Step {
  readonly parent: string;
  readonly part: string;
  readonly path: string;
  readonly isFolder: boolean;
}

/** From the top down; a folder's `/` at the end makes no step. */
function stepsOf(path: string): readonly Step[] {
  const parts = path.split("/");
  const steps: Step[] = [];
  let parent = "";
  for (const [at, part] of parts.entries()) {
    if (part === "") continue;
    const here = parent === "" ? part : `${parent}/${part}`;
    steps.push({ parent, part, path: here, isFolder: at < parts.length - 1 });
    parent = here;
  }
  return steps;
}

function isToolsOwn({ parent, part, path, isFolder }: Step, evidence: IgnoredEvidence): boolean {
  if (evidence.holdsTracked(path)) return false;
  if (ENV_PARTS.has(part) && isEnv(parent, evidence)) return true;
  return isFolder && (TOOL_FOLDERS.has(part) || part.endsWith(".egg-info"));
}

function isEnv(folder: string, evidence: IgnoredEvidence): boolean {
  return /(^|\/)\.venv$/.test(folder) || (folder !== "" && evidence.isPythonEnv(folder));
}

/** Where a path lies; `proven` is a folder of builds beside what makes it. */
type Zone = "open" | "cache" | "build" | "proven";

/** The outermost folder with a name that tells something decides. */
function zoneOf(steps: readonly Step[], evidence: IgnoredEvidence): Zone {
  const folders = steps.filter(({ path, isFolder }) => isFolder && !evidence.holdsTracked(path));
  const zones = folders.map((step) => zoneNamed(step, evidence));
  return zones.find((zone) => zone !== "open") ?? "open";
}

function zoneNamed({ part, parent }: Step, { isTracked }: IgnoredEvidence): Zone {
  if (CACHE_FOLDERS.has(part)) return "cache";
  const makers = BUILD_FOLDERS.get(part);
  if (makers === undefined) return "open";
  return makers.some((maker) => isTracked(parent === "" ? maker : `${parent}/${maker}`)) ? "proven" : "build";
}

function isOneOf(patterns: readonly RegExp[], name: string): boolean {
  return patterns.some((pattern) => pattern.test(name));
}
