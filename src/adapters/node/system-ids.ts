import { createHash, randomUUID } from "node:crypto";
import { parseLaunchId } from "../../domain/ids.ts";
import { operationIdOfDigest } from "../../domain/operation.ts";
import type { IdSource } from "../../ports/ids.ts";

/** Hexadecimal digits of a digest: 64 bits, far beyond a chance collision of the texts of one session. */
const DIGEST_LENGTH = 16;

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Random UUIDs and SHA-256. */
export function systemIds(): IdSource {
  return {
    launchId() {
      const id = parseLaunchId(randomUUID());
      if (id === undefined) throw new Error("a UUID does not parse as a launch id");
      return id;
    },
    uuid: () => randomUUID(),
    operationId: (parts) => operationIdOfDigest(sha256(JSON.stringify(parts))),
    digest: (text) => sha256(text).slice(0, DIGEST_LENGTH),
  };
}
