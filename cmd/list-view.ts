import type { Ao } from "../src/compose.ts";
import type { ProjectId } from "../src/domain/ids.ts";
import { isoTime } from "../src/domain/iso-time.ts";
import { isTerminal } from "../src/domain/lifecycle.ts";
import { printable } from "../src/domain/printable.ts";
import type { SessionRecord } from "../src/domain/session.ts";
import { listSessions, type SessionList } from "../src/lifecycle/observe/list-sessions.ts";
import { type Unsaved, unsavedTranscripts } from "../src/lifecycle/transcripts/unsaved.ts";
import type { Paint } from "./color.ts";
import { asTree } from "./session-tree.ts";
import { sessionsJson, sessionTable } from "./session-view.ts";

export interface ListChoice {
  /** `null` means all projects. */
  readonly projectId: ProjectId | null;
  readonly includeTerminated: boolean;
  /** Shows what is recorded, without a look. */
  readonly stored: boolean;
  /** Puts each fork behind the session it comes from. */
  readonly tree: boolean;
}

/** What a list shows, and what it leaves out. */
export interface Listing extends Pick<SessionList, "unreadable" | "observedAtMs" | "lookFailures"> {
  /** Newest first; what was made in the same millisecond by number. */
  readonly shown: readonly SessionRecord[];
  /** How deep each of them stands, in the same order; absent when they stand side by side. */
  readonly depths?: readonly number[];
  /** How many are over and so not shown. */
  readonly hidden: number;
  /** Also of those that are not shown. */
  readonly unsaved: readonly Unsaved[];
}

/** Looks at the sessions as `listSessions` does. */
export async function takeListing({ deps }: Ao, choice: ListChoice): Promise<Listing> {
  const { sessions, ...rest } = await listSessions(deps, choice);
  const shown = [...sessions]
    .reverse()
    .filter(({ lifecycle }) => choice.includeTerminated || !isTerminal(lifecycle));
  const unsaved = await unsavedTranscripts(deps);
  const listing = { ...rest, shown, hidden: sessions.length - shown.length, unsaved };
  if (!choice.tree) return listing;
  const branches = asTree(shown);
  return {
    ...listing,
    shown: branches.map(({ record }) => record),
    depths: branches.map(({ depth }) => depth),
  };
}

/** So many sessions are one piece. */
const PIECE_LENGTH = 32;
/** What `JSON.stringify` puts around the items of a list in an object, and so what a piece is cut out of. */
const [LIST_BEGIN, LIST_END] = ['{\n  "data": [', "\n  ]\n}"];

/** Items of the list as they stand in it, each on lines of its own. */
function listItems(data: readonly unknown[]): string {
  return JSON.stringify({ data }, null, 2).slice(LIST_BEGIN.length, -LIST_END.length);
}

/**
 * The listing as `--json` prints it, in pieces of some sessions each: all at once would take more memory than the
 * sessions themselves.
 */
export function* listingJson(
  ao: Ao,
  { shown, hidden, unreadable, observedAtMs, unsaved }: Listing,
): Generator<string> {
  const meta = {
    hiddenTerminatedCount: hidden,
    observedAt: isoTime(observedAtMs),
    unreadable: unreadable.map(({ id, flaw }) => ({ id, why: flaw })),
    unsaved: unsaved.map(({ id, cause }) => ({ id, why: cause })),
  };
  const toJson = sessionsJson(ao);
  yield LIST_BEGIN;
  for (let start = 0; start < shown.length; start += PIECE_LENGTH) {
    const items = listItems(shown.slice(start, start + PIECE_LENGTH).map(toJson));
    yield start === 0 ? items : `,${items}`;
  }
  const rest = JSON.stringify({ meta }, null, 2).slice("{".length);
  yield `${shown.length === 0 ? "" : "\n  "}],${rest}\n`;
}

/** The table, nothing when there is no session to show. */
export async function listingLines(
  { deps }: Ao,
  { shown, depths = [] }: Listing,
  look: { readonly paint: Paint; readonly width: number | undefined },
): Promise<readonly string[]> {
  return shown.length === 0
    ? []
    : sessionTable({ records: shown, depths, nowMs: deps.clock.nowMs(), ...look });
}

/** What could not be shown or saved, one line each. */
export function listingWarnings({ unreadable, lookFailures, unsaved }: Listing): readonly string[] {
  return [
    ...unreadable.map(
      ({ id, flaw }) => `session ${id} is not shown: its row in the store cannot be read (${flaw})`,
    ),
    ...lookFailures.map((failure) => `could not look at some sessions: ${failure}`),
    ...unsaved.map(unsavedText),
  ];
}

/** A person reads this as long as the save has not been made good. */
function unsavedText({ id, cause }: Unsaved): string {
  return `what was said in ${id} could not be saved (${cause}); ao reconcile tries again`;
}

/** What a person may miss, one line each. */
export function listingNotes({ deps }: Ao, { shown, hidden, unreadable }: Listing): readonly string[] {
  const isEmpty = shown.length + unreadable.length + hidden === 0;
  return [
    ...(isEmpty ? [`no sessions yet in ${printable(deps.dataDir)}; start one: ao spawn --prompt "…"`] : []),
    ...(hidden > 0 ? [`${hidden} terminated not shown; --include-terminated shows them`] : []),
  ];
}
