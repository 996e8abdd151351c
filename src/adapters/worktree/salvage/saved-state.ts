import type { BytePath } from "./byte-path.ts";
import { splitNul } from "./byte-path.ts";
import { type About, LAYOUT, parseAbout } from "./layout.ts";
import { type Permissions, parsePermissions } from "./permissions.ts";
import type { Plumbing } from "./plumbing.ts";
import { readObjects, wholeOf } from "./read-objects.ts";
import type { TreeEntry } from "./scan-files.ts";
import { type FoundSpecial, parseSpecials } from "./special-files.ts";
import { fromTreeName } from "./tree-names.ts";
import { readTree } from "./trees.ts";

/** A worktree's state as a salvage holds it. */
export interface SavedState extends About {
  readonly files: ReadonlyMap<BytePath, TreeEntry>;
  /** Of the files, those that were ignored. */
  readonly ignored: readonly BytePath[];
  readonly empty: readonly BytePath[];
  readonly permissions: Permissions;
  readonly special: readonly FoundSpecial[];
  /** The index as a file. */
  readonly index: Buffer;
  /** Files of the private git directory. */
  readonly git: ReadonlyMap<BytePath, Buffer>;
}

/**
 * Reads what a salvage holds; of the working tree's files only their names.
 *
 * @throws AoError git_failed when something of it is missing.
 * @throws Error when another `ao` made it.
 */
export async function readSavedState(plumbing: Plumbing, commit: string): Promise<SavedState> {
  const top = await readTop(plumbing, commit);
  const [files, git] = await Promise.all([
    readTree(plumbing, `${commit}:${LAYOUT.files}`),
    top.has(LAYOUT.git) ? readTree(plumbing, `${commit}:${LAYOUT.git}`) : new Map<string, TreeEntry>(),
  ]);
  const named = [...git].map(([name, { oid }]) => [`${LAYOUT.git}/${name}`, oid] as const);
  const contents = await readBlobs(plumbing, new Map([...top, ...named]));
  const text = (name: string): string => contents.get(name)?.toString("latin1") ?? "";
  return {
    ...parseAbout(contents.get(LAYOUT.about)?.toString("utf8") ?? ""),
    files: new Map([...files].map(([name, entry]) => [fromTreeName(name), entry])),
    ignored: splitNul(text(LAYOUT.ignored)),
    empty: splitNul(text(LAYOUT.folders)),
    permissions: parsePermissions(text(LAYOUT.permissions)),
    special: parseSpecials(text(LAYOUT.special)),
    index: contents.get(LAYOUT.index) ?? Buffer.alloc(0),
    git: new Map([...git.keys()].map((name) => [fromTreeName(name), contentOf(contents, name)])),
  };
}

function contentOf(contents: ReadonlyMap<string, Buffer>, name: string): Buffer {
  return contents.get(`${LAYOUT.git}/${name}`) ?? Buffer.alloc(0);
}

/** What lies at the top: blobs and trees by name. */
async function readTop(plumbing: Plumbing, commit: string): Promise<ReadonlyMap<string, string>> {
  const lines = splitNul(await plumbing.tell("read what is kept", ["ls-tree", "-z", "--full-tree", commit]));
  return new Map(
    lines.map((line): [string, string] => {
      const [, , oid = "", name = ""] = line.split(/[ \t]/);
      return [name, oid];
    }),
  );
}

async function readBlobs(
  plumbing: Plumbing,
  names: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  await readObjects(plumbing, [...new Set(names.values())], async ({ oid, type, chunks }) => {
    if (type === "blob") contents.set(oid, await wholeOf(chunks));
  });
  const found = [...names].map(([name, oid]) => [name, contents.get(oid)] as const);
  return new Map(found.flatMap(([name, content]) => (content === undefined ? [] : [[name, content]])));
}
