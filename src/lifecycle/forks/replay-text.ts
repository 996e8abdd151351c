import { AoError } from "../../domain/errors.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { SessionDeps } from "../deps.ts";
import type { Frozen } from "./fork-progress.ts";
import { partRef } from "./inherited-parts.ts";

/** As long as a message may be, in UTF-8 bytes, with room for what is around it. */
const MAX_BYTES = 1_000_000;

const INTRODUCTION = "This is what was said before in this task, as it was recorded. Go on from there.";

/**
 * What an agent is told that begins a conversation anew with the past of another one: all that was said, the oldest
 * left out when it is too long, and then the prompt.
 *
 * @throws AoError transcript_damaged
 */
export async function replayText(
  deps: Pick<SessionDeps, "transcripts" | "dataDir">,
  { seed, inherits }: Frozen,
  prompt: string | null,
): Promise<string> {
  const told: string[] = [];
  for (const { name, count } of inherits) {
    const ref = partRef(deps, seed.projectId, name);
    const read = await deps.transcripts.read(ref, async (reader) => {
      for await (const { index, message } of reader.messages(0))
        if (index < count) told.push(lineOf(message));
    });
    if (read.kind !== "read") throw new AoError("transcript_damaged", `${ref.folder}/${name} cannot be read`);
  }
  const request = prompt ?? "Wait for what you are asked next.";
  return [INTRODUCTION, ...newest(told, MAX_BYTES - bytes(request)), request].join("\n\n");
}

function lineOf({ role, text }: TranscriptMessage): string {
  return `[${role}] ${text}`;
}

function newest(told: readonly string[], room: number): readonly string[] {
  let left = room;
  const kept: string[] = [];
  for (const line of told.toReversed()) {
    left -= bytes(line) + 2;
    if (left < 0) return ["[earlier messages were left out]", ...kept.toReversed()];
    kept.push(line);
  }
  return kept.toReversed();
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
