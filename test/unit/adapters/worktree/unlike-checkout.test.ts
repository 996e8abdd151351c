import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BytePath } from "../../../../src/adapters/worktree/salvage/byte-path.ts";
import type { Plumbing } from "../../../../src/adapters/worktree/salvage/plumbing.ts";
import { unlikeCheckout } from "../../../../src/adapters/worktree/unlike-checkout.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const NAMES = ["a", "b", "c"];
const CONTENT = "as it was\n";

function worktree() {
  const root = tempDir();
  for (const name of NAMES) writeFileSync(join(root, name), CONTENT);
  return { root, files: NAMES.map((name) => ({ path: name as BytePath, oid: "1".repeat(40) })) };
}

/** A git that gives no answer to the first question of that many, and then all that it is asked for alone. */
function silentGit(why: string) {
  const asked: (readonly string[])[] = [];
  const ask: Plumbing["ask"] = async (args) => {
    asked.push(args);
    if (asked.length === 1) throw new AoError("git_unavailable", "no answer", { details: { why } });
    return { exitCode: 0, stdout: CONTENT, stderr: "" };
  };
  return { asked, plumbing: { ask } as Plumbing };
}

test("git is asked once when a filter hangs, and every file counts as one that a checkout would not give back", async () => {
  const { root, files } = worktree();
  const { asked, plumbing } = silentGit("timed_out");
  expect(await unlikeCheckout(plumbing, root, files)).toEqual(NAMES);
  expect(asked).toHaveLength(1);
});

test("each file is asked for alone when all together are too much to be read", async () => {
  const { root, files } = worktree();
  const { asked, plumbing } = silentGit("too_much");
  expect(await unlikeCheckout(plumbing, root, files)).toEqual([]);
  expect(asked).toHaveLength(1 + NAMES.length);
});
