import type { Sha256 } from "../../domain/transcript/digest.ts";
import type { Clock } from "../../ports/clock.ts";
import type { TranscriptFiles } from "../../ports/transcript-files.ts";

/** What every part of the transcript store works with. */
export interface TranscriptContext {
  readonly files: TranscriptFiles;
  readonly sha256: Sha256;
  readonly clock: Pick<Clock, "nowMs">;
  /** Names this writer in records, and tells its copies from those of others. */
  readonly writer: string;
}
