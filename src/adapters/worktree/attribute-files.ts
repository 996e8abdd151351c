import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { hasCode } from "./system-error.ts";

export interface AttributeSources {
  readonly root: string;
  readonly commonDir: string;
  /** Paths in the working tree, of any files. */
  readonly paths: readonly string[];
  /** `core.attributesFile` */
  readonly attributesFile: string | undefined;
  /** git's environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Where the attributes of the system are, by how git was built. */
const OF_SYSTEM = ["/etc", "/usr/local/etc", "/opt/homebrew/etc"].map((folder) =>
  join(folder, "gitattributes"),
);

/** An attribute that has git convert bytes on their way in and out (gitattributes(5)), or a macro for one. */
const CONVERTS = /(^|\s)(text|crlf|eol|ident|working-tree-encoding|filter)(=|\s|$)/m;

/**
 * Whether any file of attributes may have git convert something (gitattributes(5)); without a run of git. What
 * cannot be read may.
 */
export async function mayConvert(sources: AttributeSources): Promise<boolean> {
  const { root, commonDir, paths } = sources;
  const inTree = paths.filter((path) => path === ".gitattributes" || path.endsWith("/.gitattributes"));
  const elsewhere = [join(commonDir, "info", "attributes"), ...ofUser(sources), ...OF_SYSTEM];
  const found = await Promise.all([
    ...inTree.map((path) => converts(join(root, path), true)),
    ...elsewhere.map((path) => converts(path, false)),
  ]);
  return found.includes(true);
}

/** One that git has in its index and that is not there counts, too. */
async function converts(path: string, ifMissing: boolean): Promise<boolean> {
  try {
    return CONVERTS.test(await readFile(path, "utf8"));
  } catch (error) {
    return hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR") ? ifMissing : true;
  }
}

function ofUser({ root, attributesFile, env }: AttributeSources): readonly string[] {
  const home = env["HOME"] ?? "";
  if (attributesFile !== undefined) {
    // Of another user's home only git knows the place; there may be anything.
    if (/^(~[^/]|%)/.test(attributesFile)) return [root];
    return [
      attributesFile.startsWith("~") ? join(home, attributesFile.slice(1)) : resolve(root, attributesFile),
    ];
  }
  const config = env["XDG_CONFIG_HOME"];
  const folder = config === undefined || config === "" ? join(home, ".config") : config;
  return [join(folder, "git", "attributes")];
}
