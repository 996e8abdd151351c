/** SHA-256 of the UTF-8 of a text, as 64 hexadecimal digits in lower case. */
export type Sha256 = (text: string) => string;

/** The digest of a transcript without messages. */
export const EMPTY_DIGEST = "0".repeat(64);

const DIGEST = /^[0-9a-f]{64}$/;

/** Whether a text has the form of a digest. */
export function isDigest(text: unknown): text is string {
  return typeof text === "string" && DIGEST.test(text);
}

/**
 * The digest of a transcript with one message more. It depends on every message before, so equal digests
 * mean equal transcripts, and one that grows need not be read again.
 *
 * @param text the message as canonical JSON.
 */
export function extendDigest(sha256: Sha256, digest: string, text: string): string {
  return sha256(`${digest}\0${text}`);
}

/** The digests after 0, 1, … and all messages; the first one is `base`. */
export function digestsAfter(sha256: Sha256, base: string, texts: readonly string[]): readonly string[] {
  const digests = [base];
  let digest = base;
  for (const text of texts) {
    digest = extendDigest(sha256, digest, text);
    digests.push(digest);
  }
  return digests;
}
