import { canonicalJson } from "../../domain/canonical-json.ts";
import { STREAM_BUDGETS, type TranscriptRefusal } from "../../domain/transcript/budgets.ts";
import { EMPTY_HEAD } from "../../domain/transcript/chain.ts";
import { decideAppend } from "../../domain/transcript/decide-save.ts";
import { digestsAfter, EMPTY_DIGEST } from "../../domain/transcript/digest.ts";
import { NO_MESSAGES } from "../../domain/transcript/ledger.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { SaveResult, TranscriptAppend } from "../../ports/transcript-results.ts";
import { encode } from "./bytes.ts";
import { acknowledge, commit } from "./commit.ts";
import type { TranscriptContext } from "./context.ts";
import { keepConflict } from "./keep-conflict.ts";
import { hasLog, type OpenTranscript, openForSave } from "./open-for-save.ts";
import { makeFolders } from "./write-file.ts";
import { appendRecords, recordsOf } from "./write-log.ts";

/** What a record has beside one message, at most, in bytes. */
const RECORD_OVERHEAD_BYTES = 4096;

/** Adds to the end of a transcript that its lock is held of. */
export async function saveAppend(
  context: TranscriptContext,
  paths: TranscriptPaths,
  draft: TranscriptAppend,
): Promise<SaveResult> {
  const texts = draft.messages.map(canonicalJson);
  const refusal = refuseTooLong(paths, texts);
  if (refusal !== undefined) return { kind: "refused", refusal };
  const open = await openForSave(context, paths);
  if (open.kind === "refused") return open;
  if (!hasLog(open.log)) return saveFirst(context, paths, open, { base: draft.base, texts });
  const digests = digestsAfter(context.sha256, draft.base?.digest ?? EMPTY_DIGEST, texts);
  const verdict = decideAppend({ head: open.log.head, base: draft.base, digests });
  switch (verdict.kind) {
    case "unchanged":
      return acknowledge(context, paths, open);
    case "append":
      return append(context, paths, open, texts.slice(verdict.from));
    case "contested": {
      const keep = draft.base ?? NO_MESSAGES;
      return keepConflict(context, paths, open, { ...draft, keep, digests });
    }
  }
}

/** A message that no reader would take must not be written. */
export function refuseTooLong(
  { log }: TranscriptPaths,
  texts: readonly string[],
): TranscriptRefusal | undefined {
  const limit = STREAM_BUDGETS.maxRecordBytes;
  const isTooLong = (text: string) => encode(text).length > limit - RECORD_OVERHEAD_BYTES;
  return texts.some((text) => 3 * text.length > limit - RECORD_OVERHEAD_BYTES && isTooLong(text))
    ? { reason: "over_budget", path: log, budget: "maxRecordBytes", limit }
    : undefined;
}

/** Makes a transcript, unless there was one that somebody removed. */
export async function saveFirst(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
  { base, texts }: { readonly base: TranscriptAppend["base"]; readonly texts: readonly string[] },
): Promise<SaveResult> {
  const known = Math.max(base?.count ?? 0, open.ledger.committed?.count ?? 0);
  if (known > 0) return { kind: "externally_removed" };
  if (texts.length === 0) return { kind: "unchanged", head: EMPTY_HEAD, warnings: [] };
  await makeFolders(context.files, paths.folder);
  return commit(context, paths, open, {
    ...{ reason: "save", appended: null },
    write: (log, stamped) => {
      const plan = { base: EMPTY_HEAD, type: "replace", ...stamped } as const;
      return appendRecords(context, paths, log, recordsOf(context, plan, texts));
    },
  });
}

function append(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
  texts: readonly string[],
): Promise<SaveResult> {
  return commit(context, paths, open, {
    ...{ reason: "save", appended: texts },
    write: (log, stamped) => {
      const plan = { base: log.head, type: "append", ...stamped } as const;
      return appendRecords(context, paths, log, recordsOf(context, plan, texts));
    },
  });
}
