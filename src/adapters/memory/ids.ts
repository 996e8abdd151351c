import { createHash } from "node:crypto";
import { type LaunchId, parseLaunchId } from "../../domain/ids.ts";
import { operationIdOfDigest } from "../../domain/operation.ts";
import type { IdSource } from "../../ports/ids.ts";

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Counted ids, the same in every run: `launch-1`, `launch-2`, …; digests are real ones. */
export function memoryIds(): IdSource {
  let launches = 0;
  let uuids = 0;

  return {
    launchId(): LaunchId {
      launches += 1;
      const id = parseLaunchId(`launch-${launches}`);
      if (id === undefined) throw new Error("a counted launch id does not parse");
      return id;
    },
    uuid() {
      uuids += 1;
      return `00000000-0000-4000-8000-${uuids.toString(16).padStart(12, "0")}`;
    },
    operationId: (parts) => operationIdOfDigest(sha256(JSON.stringify(parts))),
    digest: (text) => sha256(text).slice(0, 16),
  };
}
