import { canonicalJson } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import { EMPTY_HEAD } from "../../domain/transcript/chain.ts";
import { decideRewrite } from "../../domain/transcript/decide-save.ts";
import { digestsAfter } from "../../domain/transcript/digest.ts";
import type { TranscriptPrefix } from "../../domain/transcript/ledger.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import { fitOneRecord } from "../../domain/transcript/record-builder.ts";
import type { SaveResult, TranscriptRewrite } from "../../ports/transcript-results.ts";
import { acknowledge, commit } from "./commit.ts";
import type { TranscriptContext } from "./context.ts";
import { keepConflict } from "./keep-conflict.ts";
import { hasLog, type OpenTranscript, openForSave } from "./open-for-save.ts";
import { digestAt, replayPlaces } from "./open-log.ts";
import { withFile } from "./read-file.ts";
import { firstOf, joined, messagesOf } from "./read-messages.ts";
import { refuseTooLong, saveFirst } from "./save-append.ts";
import { appendRecords, recordsOf, rewriteLog } from "./write-log.ts";

/** Replaces messages of a transcript that its lock is held of; `erases` leaves nothing of them in the log. */
export async function saveRewrite(
  context: TranscriptContext,
  paths: TranscriptPaths,
  draft: TranscriptRewrite,
  { erases }: { readonly erases: boolean },
): Promise<SaveResult> {
  const texts = draft.messages.map(canonicalJson);
  const refusal = refuseTooLong(paths, texts);
  if (refusal !== undefined) return { kind: "refused", refusal };
  const open = await openForSave(context, paths);
  if (open.kind === "refused") return open;
  if (!hasLog(open.log)) return saveFirst(context, paths, open, { base: draft.base, texts });
  return rewrite(context, paths, open, { draft, texts, erases });
}

interface Wanted {
  readonly draft: TranscriptRewrite;
  /** The messages of the draft as canonical JSON. */
  readonly texts: readonly string[];
  readonly erases: boolean;
}

async function rewrite(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
  { draft, texts, erases }: Wanted,
): Promise<SaveResult> {
  const { head } = open.log;
  const digests = digestsAfter(context.sha256, draft.keep.digest, texts);
  const next = { count: draft.keep.count + texts.length, digest: digests.at(-1) ?? draft.keep.digest };
  const verdict = decideRewrite({ head, base: draft.base, next });
  if (verdict === "contested") return keepConflict(context, paths, open, { ...draft, digests });
  if (verdict === "unchanged") {
    const all = { keep: head, messages: [], reason: draft.reason };
    return erases ? writeAnew(context, paths, open, all) : acknowledge(context, paths, open);
  }
  return fitOneRecord(texts) && !erases
    ? replaceFrom(context, paths, open, { ...draft, texts })
    : writeAnew(context, paths, open, draft);
}

/** One record says it all: the log keeps what was there before. */
async function replaceFrom(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
  { keep, texts, reason }: Pick<TranscriptRewrite, "keep" | "reason"> & { readonly texts: readonly string[] },
): Promise<SaveResult> {
  requireKept(keep, await digestAt(context, paths, keep.count));
  return commit(context, paths, open, {
    ...{ reason, appended: null },
    write: (log, stamped) => {
      const base = { ...log.head, count: keep.count, digest: keep.digest };
      const plan = { base, type: "replace", ...stamped } as const;
      return appendRecords(context, paths, log, recordsOf(context, plan, texts));
    },
  });
}

/** @throws AoError internal */
function requireKept(keep: TranscriptPrefix, found: string | undefined): void {
  if (found === keep.digest) return;
  throw new AoError("internal", `a rewrite keeps ${keep.count} messages that are not in the transcript`);
}

/** A new log takes the place of the old one. */
async function writeAnew(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
  { keep, messages, reason }: Pick<TranscriptRewrite, "keep" | "messages" | "reason">,
): Promise<SaveResult> {
  const result = await withFile(context.files, paths.log, async (file): Promise<SaveResult> => {
    const replayed = await replayPlaces(context, paths, file);
    if (replayed.kind === "refused") return replayed;
    const { chain } = replayed.replay;
    if (chain.gaps().some(({ first }) => first < keep.count)) {
      return { kind: "refused", refusal: { reason: "damaged", path: paths.log } };
    }
    requireKept(keep, chain.digestAt(keep.count));
    const kept = firstOf(messagesOf(context, file, chain.spans()), keep.count);
    return commit(context, paths, open, {
      ...{ reason, appended: null },
      write: ({ head: { revision, rewrites } }, stamped) => {
        const base = { ...EMPTY_HEAD, revision, rewrites };
        const plan = { base, type: "replace", ...stamped } as const;
        return rewriteLog(context, paths, plan, joined(kept, messages));
      },
    });
  });
  return result ?? { kind: "externally_removed" };
}
