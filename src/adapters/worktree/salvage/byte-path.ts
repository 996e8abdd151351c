/**
 * A path as git keeps it, relative to the top of a working tree, one character a byte: names need not be
 * UTF-8. `/` stands between its parts.
 */
export type BytePath = string;

/** The bytes of a path, or of anything else that is held one character a byte. */
export function bytesOf(path: BytePath): Buffer {
  return Buffer.from(path, "latin1");
}

/** A path for a person; what is no UTF-8 shows as U+FFFD. */
export function textOf(path: BytePath): string {
  return bytesOf(path).toString("utf8");
}

/** A path of ordinary text. */
export function bytePathOf(text: string): BytePath {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Where a path is on disk. */
export function placeOf(root: string, path: BytePath): Buffer {
  return path === "" ? Buffer.from(root) : Buffer.concat([Buffer.from(`${root}/`), bytesOf(path)]);
}

/** The folder of a path, `""` for the top. */
export function parentOf(path: BytePath): BytePath {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** All folders of a path from the top one down, itself and the top excepted. */
export function parentsOf(path: BytePath): readonly BytePath[] {
  const parent = parentOf(path);
  return parent === "" ? [] : [...parentsOf(parent), parent];
}

/** A path below a folder. */
export function below(folder: BytePath, name: string): BytePath {
  return folder === "" ? name : `${folder}/${name}`;
}

/** The entries of a list whose members end with NUL. */
export function splitNul(text: string): readonly string[] {
  return text.split("\0").filter((entry) => entry !== "");
}
