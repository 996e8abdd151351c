import type { LaunchId } from "../domain/ids.ts";

/** Fresh names and digests: the only randomness and hashing of the core. */
export interface IdSource {
  /** A new launch id, never given twice. */
  launchId(): LaunchId;
  /** A new RFC 9562 UUID in lower case. */
  uuid(): string;
  /** A short hexadecimal digest, equal for equal text on every machine. */
  digest(text: string): string;
}
