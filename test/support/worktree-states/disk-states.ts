import type { OwnDisk, StatePlace, WorktreeState } from "./state.ts";

const UNREADABLE = { finds: ["unreadable"], reason: "unknown" } as const;

const apart = (name: string, ownDisk: OwnDisk): WorktreeState => ({
  name: `work is in it, and ${name}`,
  ownDisk,
  arrange: ({ write }) => {
    write("f.txt", "two\n");
    write("new.txt");
  },
  finds: ["changed", "untracked"],
  reason: "dirty",
});

type Found = Pick<WorktreeState, "finds" | "reason" | "stays">;

const closed = (
  name: string,
  path: string,
  { arrange = () => {}, ...found }: Partial<Pick<WorktreeState, "arrange">> & Found,
): WorktreeState => ({ name: `${name} may not be opened`, closed: [path], arrange, ...found });

/** What git sees without reading it; a salvage cannot have it. */
const withFile = (finds: Found["finds"], reason: Found["reason"]): Found => ({
  finds,
  reason,
  stays: "unknown",
});
const writing = (file: string) => ({ arrange: ({ write }: StatePlace) => write(file) });

/** On which disk it lies, and who may read it. */
export const DISK_STATES: readonly WorktreeState[] = [
  apart("all worktrees lie on a file system of their own", "worktrees"),
  apart("the trash lies on a file system of its own", "trash"),
  apart("the worktrees of its project lie on a file system of their own", "project"),
  closed("an untracked folder", "new", { ...writing("new/file.txt"), ...UNREADABLE }),
  closed("an untracked file", "new.txt", {
    ...writing("new.txt"),
    ...withFile(["untracked"], "untracked"),
  }),
  closed("a tracked folder", "src", UNREADABLE),
  closed("a tracked file", "f.txt", withFile(["changed"], "dirty")),
  closed("an ignored folder", "data", { ...writing("data/set.csv"), ...UNREADABLE }),
  closed("an ignored file", ".env", { ...writing(".env"), ...withFile(["ignored"], "ignored_files") }),
  closed("a folder of packages", "node_modules", { ...writing("node_modules/a/index.js"), ...UNREADABLE }),
  closed("its folder", "", { ...writing("new.txt"), ...UNREADABLE }),
  {
    name: "its repository is another user's, which git does not trust",
    isForeign: true,
    arrange: ({ write }) => write("new.txt"),
    ...UNREADABLE,
  },
];
