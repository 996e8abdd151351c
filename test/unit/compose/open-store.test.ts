import { join } from "node:path";
import { expect, test } from "vitest";
import { dataDirectory } from "../../../src/adapters/data-directory/data-directory.ts";
import { openStore } from "../../../src/compose/open-store.ts";
import { tempDir } from "../../support/temp-dir.ts";

test("a first spawn in another process, seen by its worktree alone, is no lost database", async () => {
  let isMade = false;
  const directory = {
    ...dataDirectory({ AO_DATA_DIR: join(tempDir(), "data") }, "/"),
    holdsAny: () => isMade,
    holdsWorktrees: () => {
      isMade = true;
      return true;
    },
  };
  expect(await openStore(directory, { access: "reading" })).toMatchObject({ isNew: true });
});
