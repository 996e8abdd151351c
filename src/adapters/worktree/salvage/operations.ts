/** Files of a private git directory that exist while an operation waits to be finished (git 2.39.5). */
const UNDER_WAY: readonly (readonly [file: RegExp, name: string])[] = [
  [/^rebase-merge\//, "rebase"],
  [/^rebase-apply\//, "rebase or am"],
  [/^MERGE_HEAD$/, "merge"],
  [/^CHERRY_PICK_HEAD$/, "cherry-pick"],
  [/^REVERT_HEAD$/, "revert"],
  [/^sequencer\//, "cherry-pick or revert of several commits"],
  [/^BISECT_LOG$/, "bisect"],
];

/** What is under way, by the files of a private git directory. */
export function operationsUnderWay(paths: readonly string[]): readonly string[] {
  return UNDER_WAY.filter(([file]) => paths.some((path) => file.test(path))).map(([, name]) => name);
}

/** Whether a file of a private git directory belongs to something under way. */
export function isOfOperation(path: string): boolean {
  return UNDER_WAY.some(([file]) => file.test(path));
}
