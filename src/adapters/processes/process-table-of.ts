import { assertNever } from "../../domain/assert-never.ts";
import { hasErrorCode } from "../../domain/error-code.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";
import type { ProcessFact } from "../../domain/facts.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { EnvMarker, ProcessTable, ProcessUse } from "../../ports/process-table.ts";
import { isThere } from "./is-there.ts";
import type { ProcessSource, Sighting } from "./process-source.ts";
import { selectFamily } from "./select-family.ts";

type Signal = Parameters<ProcessTable["signal"]>[1];

async function orUnavailable<Answer>(look: () => Promise<Answer>): Promise<Answer> {
  try {
    return await look();
  } catch (error) {
    throw new AoError("runtime_unavailable", `the process table could not be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function factOf(identity: ProcessIdentity, sighting: Sighting | undefined): ProcessFact {
  if (sighting === undefined) return { kind: "indeterminate" };
  switch (sighting.kind) {
    case "seen": {
      const isSame = sighting.row.startTime === identity.startTime;
      return { kind: isSame && !sighting.row.dead ? "alive" : "dead" };
    }
    case "absent":
      return { kind: "dead" };
    case "unreadable":
      return { kind: "indeterminate" };
    default:
      return assertNever(sighting);
  }
}

async function look(source: ProcessSource, identities: readonly ProcessIdentity[]): Promise<ProcessFact[]> {
  const bootId = await source.bootId();
  const ofThisBoot = identities.filter((identity) => identity.bootId === bootId);
  const sightings = await source.sight(ofThisBoot.map(({ pid }) => pid));
  return identities.map((identity) =>
    identity.bootId === bootId
      ? factOf(identity, sightings.get(identity.pid))
      : { kind: "dead", ofAnotherBoot: true },
  );
}

async function lookOrSay(
  source: ProcessSource,
  identities: readonly ProcessIdentity[],
): Promise<readonly ProcessFact[]> {
  if (identities.length === 0) return [];
  try {
    return await look(source, identities);
  } catch (error) {
    const cause = errorMessage(error);
    return identities.map(() => ({ kind: "probe_failed", cause }));
  }
}

async function identify(source: ProcessSource, pid: number): Promise<ProcessIdentity | undefined> {
  const sighting = (await source.sight([pid])).get(pid);
  if (sighting?.kind === "unreadable") throw new Error(`process ${pid} cannot be looked at`);
  if (sighting?.kind !== "seen" || sighting.row.dead) return undefined;
  return { pid, startTime: sighting.row.startTime, bootId: await source.bootId() };
}

async function family(
  source: ProcessSource,
  root: ProcessIdentity | null,
  markers: readonly EnvMarker[],
): Promise<readonly ProcessIdentity[]> {
  const bootId = await source.bootId();
  // The rows first: a pid that goes to another process before the markers are read then has a start time
  // that no longer fits, and is not signalled.
  const rows = await source.all();
  const marked = await source.marked(markers);
  const lives = rows.some((row) => row.pid === root?.pid && !row.dead && row.startTime === root.startTime);
  const rootPid = root !== null && root.bootId === bootId && lives ? root.pid : null;
  const found = selectFamily({ rows, rootPid, marked, callerPid: process.pid });
  return found.map(({ pid, startTime }) => ({ pid, startTime, bootId }));
}

/** A process that ended meanwhile needs no signal; one that may not be signalled shows in the next look. */
async function signal(source: ProcessSource, identity: ProcessIdentity, name: Signal): Promise<void> {
  const [fact] = await look(source, [identity]);
  if (fact?.kind !== "alive" || !isThere(identity.pid)) return;
  try {
    process.kill(identity.pid, name);
  } catch (error) {
    if (!hasErrorCode(error, "ESRCH", "EPERM")) throw error;
  }
}

async function deafToTerm(
  source: ProcessSource,
  identities: readonly ProcessIdentity[],
): Promise<readonly ProcessIdentity[]> {
  const [bootId, sightings] = await Promise.all([
    source.bootId(),
    source.sight(identities.map(({ pid }) => pid)),
  ]);
  return identities.filter((identity) => {
    const sighting = sightings.get(identity.pid);
    if (sighting?.kind !== "seen" || sighting.row.dead || identity.bootId !== bootId) return false;
    return sighting.row.startTime === identity.startTime && sighting.row.ignoresTerm === true;
  });
}

function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

async function usersOf(source: ProcessSource, directory: string): Promise<readonly ProcessUse[]> {
  const uses = await source.uses(directory);
  const users = [...uses].flatMap(([pid, all]): [number, string[]][] => {
    const paths = [...new Set(all)].filter((path) => isWithin(directory, path));
    return pid === process.pid || paths.length === 0 ? [] : [[pid, paths]];
  });
  if (users.length === 0) return [];
  const sightings = await source.sight(users.map(([pid]) => pid));
  return users.flatMap(([pid, paths]): ProcessUse[] => {
    const sighting = sightings.get(pid);
    const lives = sighting?.kind === "seen" && !sighting.row.dead;
    return lives ? [{ pid, command: sighting.row.command, paths }] : [];
  });
}

/**
 * The rules of a process table over what one operating system tells. A process that may not be looked at
 * is indeterminate, never dead. A signal to a process that may not be signalled does nothing.
 */
export function processTableOf(source: ProcessSource): ProcessTable {
  return {
    identify: (pid) => orUnavailable(() => identify(source, pid)),
    look: (identities) => lookOrSay(source, identities),
    family: (root, ...markers) => orUnavailable(() => family(source, root, markers)),
    signal: (identity, name) => orUnavailable(() => signal(source, identity, name)),
    deafToTerm: (identities) => orUnavailable(() => deafToTerm(source, identities)),
    usersOf: (directory) => orUnavailable(() => usersOf(source, directory)),
  };
}
