import type { LaunchId } from "../domain/ids.ts";
import type { OperationId } from "../domain/operation.ts";

/** Fresh names and digests: the only randomness and hashing of the core. */
export interface IdSource {
  /** A new launch id, never given twice. */
  launchId(): LaunchId;
  /** A new RFC 9562 UUID in lower case. */
  uuid(): string;
  /**
   * The id of the operation that `parts` name, in their order: equal for equal parts on every machine, else
   * different. An RFC 9562 UUID of version 8: the first 128 bits of the SHA-256 of the parts as a JSON array.
   */
  operationId(parts: readonly string[]): OperationId;
  /** A short hexadecimal digest, equal for equal text on every machine. */
  digest(text: string): string;
}
