import { createHash } from "node:crypto";
import type { Sha256 } from "../../domain/transcript/digest.ts";

/** SHA-256 (FIPS 180-4) by OpenSSL. */
export const sha256: Sha256 = (text) => createHash("sha256").update(text).digest("hex");
