import type { SpecialFile } from "../../domain/salvage.ts";
import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { MemoryWorkspace } from "./workspace.ts";

/** Contents by path. */
export type Files = ReadonlyMap<string, string>;

/** What one workspace has: its files, and those of them that are staged as they were then. */
export interface WorkState {
  readonly files: Files;
  readonly staged: Files;
  /** Pipes and the like. */
  readonly special: readonly SpecialFile[];
}

/** Every new workspace has these. */
export const COMMITTED: Files = new Map([
  ["readme.md", "hello\n"],
  [".gitignore", ".env\nnode_modules/\n"],
]);

const UNTOUCHED: WorkState = { files: COMMITTED, staged: new Map(), special: [] };

/** The files of all workspaces. A workspace that was made anew has what is committed. */
export interface MemoryWork {
  state(path: string): WorkState;
  /** `null` removes it. */
  write(path: string, file: string, content: string | null): void;
  stage(path: string, file: string): void;
  /** Puts a pipe, a socket or a device there. */
  addSpecial(path: string, special: SpecialFile): void;
  replace(path: string, state: WorkState): void;
}

/** Files beside a workspace twin, which learns what would be lost with them. */
export function memoryWork(workspace: Pick<MemoryWorkspace, "made" | "refuse" | "allow">): MemoryWork {
  const known = new Map<string, { readonly made: number; readonly state: WorkState }>();
  const state = (path: string): WorkState => {
    const found = known.get(path);
    return found?.made === workspace.made(path) ? found.state : UNTOUCHED;
  };
  const replace = (path: string, next: WorkState): void => {
    known.set(path, { made: workspace.made(path), state: next });
    const findings = findingsOf(next);
    if (findings.length > 0) workspace.refuse(path, findings);
    else workspace.allow(path);
  };
  return {
    state,
    replace,
    write(path, file, content) {
      const there = state(path);
      const rest = [...there.files].filter(([name]) => name !== file);
      replace(path, { ...there, files: new Map(content === null ? rest : [...rest, [file, content]]) });
    },
    stage(path, file) {
      const there = state(path);
      const content = there.files.get(file) ?? "";
      replace(path, { ...there, staged: new Map([...there.staged, [file, content]]) });
    },
    addSpecial(path, special) {
      const there = state(path);
      replace(path, { ...there, special: [...there.special, special] });
    },
  };
}

/** Whether git would not show it. */
export function isIgnored(file: string): boolean {
  return file === ".env" || isReproducible(file);
}

/** Whether it comes back by itself. */
export function isReproducible(file: string): boolean {
  return file.startsWith("node_modules/");
}

/** Whether both have the same. */
export function isSameFiles(one: Files, other: Files): boolean {
  return one.size === other.size && [...one].every(([file, content]) => other.get(file) === content);
}

function findingsOf({ files, staged, special }: WorkState): readonly WorkspaceFinding[] {
  const names = [...files.keys()];
  const changed = [...COMMITTED.keys()].filter((file) => files.get(file) !== COMMITTED.get(file));
  const others = names.filter((file) => !COMMITTED.has(file) && !staged.has(file));
  return [
    ...finding("changed", changed),
    ...finding("staged", [...staged.keys()]),
    ...finding("untracked", [
      ...others.filter((file) => !isIgnored(file)),
      ...special.map(({ path }) => path),
    ]),
    ...finding(
      "ignored",
      others.filter((file) => isIgnored(file) && !isReproducible(file)),
    ),
  ];
}

function finding(kind: WorkspaceFinding["kind"], items: readonly string[]): readonly WorkspaceFinding[] {
  const count = items.length;
  return count === 0 ? [] : [{ kind, detail: `${count} ${kind}: ${items.join(", ")}`, items, count }];
}
