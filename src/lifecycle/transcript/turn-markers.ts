import { canonicalJson } from "../../domain/canonical-json.ts";
import { digestsAfter, EMPTY_DIGEST } from "../../domain/transcript/digest.ts";
import {
  decideInFlight,
  type InFlightTurn,
  type InFlightVerdict,
} from "../../domain/transcript/in-flight-turn.ts";
import type { TranscriptLedger } from "../../domain/transcript/ledger.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type {
  BegunTurn,
  FinalTranscript,
  Missing,
  Refused,
  ResumedTurn,
} from "../../ports/transcript-results.ts";
import { concat, encodeLine } from "./bytes.ts";
import { commit } from "./commit.ts";
import type { TranscriptContext } from "./context.ts";
import { hasLog, type OpenTranscript, openForSave } from "./open-for-save.ts";
import { replayPlaces } from "./open-log.ts";
import { withFile } from "./read-file.ts";
import { messagesOf } from "./read-messages.ts";
import { salvageLines } from "./salvage.ts";
import { readLedger, writeLedger } from "./sidecars.ts";
import { makeFolders } from "./write-file.ts";
import { appendRecords, recordsOf } from "./write-log.ts";

/** Sets the marker of a turn, on what is on disk in the same moment. */
export async function beginTurn(
  context: TranscriptContext,
  paths: TranscriptPaths,
  turn: Pick<InFlightTurn, "id" | "turnId" | "keeps">,
): Promise<BegunTurn | Refused> {
  const open = await openForSave(context, paths);
  if (open.kind === "refused") return open;
  const { head } = open.log;
  const inFlight: InFlightTurn = {
    ...turn,
    ...{ startCount: head.count, startDigest: head.digest },
    ...{ startedAtMs: context.clock.nowMs(), commitDigest: null },
  };
  await makeFolders(context.files, paths.folder);
  await writeLedger(context, paths, { ...open.ledger, inFlight });
  return { kind: "begun", turn: inFlight, head };
}

/** The marker of a turn, if one is set. A pure read. */
export async function turnInFlight(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<InFlightTurn | null> {
  const ledger = await readLedger(context, paths);
  return ledger === "newer" ? null : ledger.inFlight;
}

/** Writes down what the transcript will be once the turn is saved. */
export function prepareCommit(
  context: TranscriptContext,
  paths: TranscriptPaths,
  id: string,
  { after, messages }: FinalTranscript,
): Promise<boolean> {
  const base = after?.digest ?? EMPTY_DIGEST;
  const commitDigest = digestsAfter(context.sha256, base, messages.map(canonicalJson)).at(-1) ?? base;
  return changeMarker(context, paths, id, (turn) => ({ ...turn, commitDigest }));
}

/** Changes the marker of that id; false when it is another one. */
export async function changeMarker(
  context: TranscriptContext,
  paths: TranscriptPaths,
  id: string,
  change: (turn: InFlightTurn) => InFlightTurn | null,
): Promise<boolean> {
  const ledger = await readLedger(context, paths);
  if (ledger === "newer" || ledger.inFlight?.id !== id) return false;
  await writeLedger(context, paths, { ...ledger, inFlight: change(ledger.inFlight) });
  return true;
}

/** Ends the turn that a writer left in flight. */
export async function resumeTurn(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<ResumedTurn | Missing | Refused> {
  const open = await openForSave(context, paths);
  if (open.kind === "refused") return open;
  const turn = open.ledger.inFlight;
  const { head } = open.log;
  if (turn === null) {
    return hasLog(open.log)
      ? { kind: "resumed", verdict: null, head, salvagedBytes: 0 }
      : { kind: "missing", wasCommitted: (open.ledger.committed?.count ?? 0) > 0 };
  }
  const found = await findTurn(context, paths, open, turn);
  if (found.verdict.kind !== "strip") {
    await writeLedger(context, paths, { ...open.ledger, inFlight: null });
    return { kind: "resumed", verdict: found.verdict, head, salvagedBytes: 0 };
  }
  return strip(context, paths, { open, verdict: found.verdict, cut: found.cut, digest: found.digest });
}

interface FoundTurn {
  readonly verdict: InFlightVerdict;
  /** What would be cut. */
  readonly cut: readonly TranscriptMessage[];
  /** Of what would be kept. */
  readonly digest: string | undefined;
}

async function findTurn(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { log }: OpenTranscript,
  turn: InFlightTurn,
): Promise<FoundTurn> {
  const { digest } = log.head;
  const found = await withFile(context.files, paths.log, async (file): Promise<FoundTurn | undefined> => {
    const replayed = await replayPlaces(context, paths, file);
    if (replayed.kind === "refused") return undefined;
    const { chain } = replayed.replay;
    const after: TranscriptMessage[] = [];
    for await (const message of messagesOf(context, file, chain.spans(), turn.startCount))
      after.push(message);
    const digestAtStart = chain.digestAt(turn.startCount);
    const verdict = decideInFlight({ turn, digest, digestAtStart, after });
    if (verdict.kind !== "strip") return { verdict, cut: [], digest };
    return {
      ...{ verdict, digest: chain.digestAt(verdict.keep) },
      cut: after.slice(verdict.keep - turn.startCount),
    };
  });
  const isStart = turn.startDigest === digest;
  const verdict = { kind: isStart ? "nothing_saved" : "start_not_found" } as const;
  return found ?? { verdict, cut: [], digest };
}

interface Strip extends FoundTurn {
  readonly open: OpenTranscript;
  readonly verdict: InFlightVerdict & { readonly kind: "strip" };
}

async function strip(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { open, verdict, cut, digest = open.log.head.digest }: Strip,
): Promise<ResumedTurn> {
  const lines = concat(cut.map((message) => encodeLine(canonicalJson(message))));
  await salvageLines(context, paths, lines);
  const saved = await commit(context, paths, open, {
    ...{ reason: "strip", appended: null },
    write: (log, stamped) => {
      const base = { ...log.head, count: verdict.keep, digest };
      return appendRecords(
        context,
        paths,
        log,
        recordsOf(context, { base, type: "replace", ...stamped }, []),
      );
    },
  });
  await clear(context, paths);
  const salvagedBytes = lines.length + saved.salvagedBytes;
  return { kind: "resumed", verdict, head: saved.head, salvagedBytes };
}

async function clear(context: TranscriptContext, paths: TranscriptPaths): Promise<void> {
  const ledger: TranscriptLedger | "newer" = await readLedger(context, paths);
  if (ledger !== "newer") await writeLedger(context, paths, { ...ledger, inFlight: null });
}
