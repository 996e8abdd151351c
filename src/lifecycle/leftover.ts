/** Something that an undo could not take away, or would not, for it holds work or may. */
export interface Leftover {
  readonly what: string;
  readonly where: string;
  readonly why: string;
  /** A command that shows the work in it; absent for what ought to have gone. */
  readonly see?: string;
}

export interface LeftoverAdvice {
  /** What stays for the work in it, for the message of an error. */
  readonly kept: readonly string[];
  /** What to do about it. Never to remove what may hold work. */
  readonly hints: readonly string[];
}

/** What is left after an undo, in words. Pure. */
export function leftoverAdvice(left: readonly Leftover[]): LeftoverAdvice {
  const work = left.filter(({ see }) => see !== undefined);
  const rest = left.filter(({ see }) => see === undefined);
  const commands = [...new Set(work.flatMap(({ see }) => see ?? []))];
  return {
    kept: work.length === 0 ? [] : [`kept for the work in it: ${namesOf(work)}`],
    hints: [
      ...(rest.length === 0
        ? []
        : [`left for now, and taken back by the next command (ao reconcile): ${namesOf(rest)}`]),
      ...(commands.length === 0 ? [] : [`see what was done: ${commands.join("; ")}`]),
    ],
  };
}

function namesOf(left: readonly Leftover[]): string {
  return left.map(({ what, where }) => `${what} ${where}`).join(", ");
}
