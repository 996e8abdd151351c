import { createHash } from "node:crypto";
import { AoError } from "../../../domain/errors.ts";
import type { ObjectFormat } from "./index-file.ts";
import type { Plumbing } from "./plumbing.ts";
import { readObjects } from "./read-objects.ts";

/**
 * Reads everything that a commit has beyond its parents, to the last byte, and compares it with its names.
 *
 * @throws AoError git_failed when something of it is missing or damaged.
 */
export async function verifyCommit(plumbing: Plumbing, format: ObjectFormat, commit: string): Promise<void> {
  const parents = (await plumbing.tell("read what was kept", ["rev-parse", `${commit}^@`])).split("\n");
  const held = parents.filter(Boolean).map((parent) => `^${parent}`);
  const args = ["rev-list", "--objects", "--no-object-names", commit, ...held, "--"];
  const oids = (await plumbing.tell("read what was kept", args)).split("\n").filter(Boolean);
  await readObjects(plumbing, oids, async ({ oid, type, size, chunks }) => {
    const hash = createHash(format).update(`${type} ${size}\0`);
    for await (const chunk of chunks) hash.update(chunk);
    if (hash.digest("hex") !== oid) throw damaged(oid);
  });
}

function damaged(oid: string): AoError {
  return new AoError("git_failed", `git gives back something else for ${oid} than was kept`, {
    hint: "git fsck",
    details: { oid },
  });
}
