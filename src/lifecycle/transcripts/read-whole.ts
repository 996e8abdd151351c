import type { InheritedPart } from "../../domain/fork-origin.ts";
import type { ProjectId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { EMPTY_HEAD } from "../../domain/transcript/chain.ts";
import type { Missing, NumberedMessage, Refused, TranscriptReader } from "../../ports/transcript-results.ts";
import type { SessionDeps } from "../deps.ts";
import { partRef } from "../forks/inherited-parts.ts";
import { transcriptRef } from "./transcript-ref.ts";

type Deps = Pick<SessionDeps, "transcripts" | "dataDir">;
type Read<Result> = { readonly kind: "read"; readonly result: Result } | Missing | Refused;

const NOTHING: TranscriptReader = {
  ...{ from: "log", head: EMPTY_HEAD, savedAtMs: null, gaps: [], damage: [], lost: 0 },
  messages: noMessages,
};

async function* noMessages(): AsyncGenerator<NumberedMessage> {}

/** The transcript of a session with what was said before it was forked, as one. */
export async function readWhole<Result>(
  deps: Deps,
  record: Pick<SessionRecord, "id" | "projectId" | "metadata">,
  work: (reader: TranscriptReader) => Promise<Result>,
): Promise<Read<Result>> {
  const parts = record.metadata.fork?.inherits ?? [];
  const ref = transcriptRef(deps, record);
  if (parts.length === 0) return deps.transcripts.read(ref, work);
  return readParts(deps, record.projectId, { parts, sofar: [] }, async (past) => {
    const read = await deps.transcripts.read(ref, (own) => work(joined(past, own)));
    const isEmpty = read.kind === "missing" && !read.wasCommitted;
    return isEmpty ? { kind: "read", result: await work(joined(past, NOTHING)) } : read;
  });
}

interface Opened {
  readonly parts: readonly InheritedPart[];
  readonly sofar: readonly TranscriptReader[];
}

/** Opens one part after the other; one that is gone is a gap. */
async function readParts<Result>(
  deps: Deps,
  projectId: ProjectId,
  { parts: [part, ...rest], sofar }: Opened,
  work: (readers: readonly TranscriptReader[]) => Promise<Read<Result>>,
): Promise<Read<Result>> {
  if (part === undefined) return work(sofar);
  const next = (reader: TranscriptReader) =>
    readParts(deps, projectId, { parts: rest, sofar: [...sofar, reader] }, work);
  const read = await deps.transcripts.read(partRef(deps, projectId, part.name), (reader) =>
    next(asInherited(reader, part)),
  );
  return read.kind === "read" ? read.result : next(lost(part));
}

/** Of a part that is not what it was, nothing is believed to be missing or to be right. */
function asInherited(reader: TranscriptReader, { count, digest }: InheritedPart): TranscriptReader {
  const isSame = reader.head.count === count && reader.head.digest === digest;
  if (isSame) return reader;
  const missing = Math.max(0, count - reader.head.count);
  const gaps = missing === 0 ? reader.gaps : [...reader.gaps, { first: reader.head.count, count: missing }];
  const damage = [...reader.damage, { kind: "unlinked", offset: 0, bytes: 0 } as const];
  return { ...reader, head: { ...reader.head, count: Math.max(count, reader.head.count) }, gaps, damage };
}

function lost({ count }: InheritedPart): TranscriptReader {
  return { ...NOTHING, head: { ...EMPTY_HEAD, count }, gaps: [{ first: 0, count }] };
}

/** One transcript of several, each numbered on from the one before. The last one's digest stands for itself alone. */
function joined(past: readonly TranscriptReader[], own: TranscriptReader): TranscriptReader {
  const all = [...past, own];
  const starts = all.map((_, index) => all.slice(0, index).reduce((sum, { head }) => sum + head.count, 0));
  const shifted = all.map((reader, index) => ({ reader, start: starts[index] ?? 0 }));
  const count = all.reduce((sum, { head }) => sum + head.count, 0);
  const head = own.head.count === 0 ? (past.at(-1)?.head ?? own.head) : own.head;
  return {
    ...own,
    head: { ...head, count },
    savedAtMs: own.savedAtMs ?? past.at(-1)?.savedAtMs ?? null,
    gaps: shifted.flatMap(({ reader, start }) =>
      reader.gaps.map((gap) => ({ ...gap, first: gap.first + start })),
    ),
    damage: all.flatMap(({ damage }) => damage),
    async *messages(first) {
      for (const { reader, start } of shifted) {
        if (start + reader.head.count <= first) continue;
        for await (const { index, message } of reader.messages(Math.max(0, first - start))) {
          yield { index: index + start, message };
        }
      }
    },
  };
}
