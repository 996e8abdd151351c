import type { SessionId } from "../../../domain/ids.ts";
import { parseSalvageRef, type Salvage, salvageRef } from "../../../domain/salvage.ts";
import { textOf } from "./byte-path.ts";
import type { Plumbing } from "./plumbing.ts";
import { parseSalvageMessage } from "./salvage-message.ts";

/** A salvage with what its commit is made of. */
export interface FoundSalvage extends Salvage {
  readonly tree: string;
  readonly parents: readonly string[];
}

const FIELDS = ["%(refname)", "%(objectname)", "%(tree)", "%(parent)", "%(contents)"];
const FORMAT = `${FIELDS.map((field) => `${field}%00`).join("")}`;

/**
 * The salvages below a prefix, by session and number. A ref that is no salvage of ours is left out.
 *
 * @throws AoError git_failed
 */
export async function findSalvages(plumbing: Plumbing, prefix: string): Promise<readonly FoundSalvage[]> {
  const answer = await plumbing.tell("list what is kept", [
    "for-each-ref",
    `--format=${FORMAT}`,
    "--",
    prefix,
  ]);
  const fields = answer.split("\0");
  const found: FoundSalvage[] = [];
  for (let at = 0; at + FIELDS.length <= fields.length; at += FIELDS.length) {
    found.push(...parseSalvage(fields.slice(at, at + FIELDS.length)));
  }
  return found.sort(inOrder);
}

/** The salvages of one session; the newest is the last. @throws AoError git_failed */
export function salvagesOf(plumbing: Plumbing, sessionId: SessionId): Promise<readonly FoundSalvage[]> {
  return findSalvages(plumbing, salvageRef(sessionId));
}

function parseSalvage([name = "", commit = "", tree = "", parents = "", message = ""]: readonly string[]) {
  const named = parseSalvageRef(name.replace(/^\n/, ""));
  const note = parseSalvageMessage(textOf(message));
  if (named === undefined || note === undefined) return [];
  return [{ ...named, ...note, commit, tree, parents: parents.split(" ").filter(Boolean) }];
}

function inOrder(one: Salvage, other: Salvage): number {
  if (one.sessionId === other.sessionId) return one.number - other.number;
  return one.sessionId < other.sessionId ? -1 : 1;
}
