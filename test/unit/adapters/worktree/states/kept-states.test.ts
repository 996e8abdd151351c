import { describe, expect, test } from "vitest";
import { skipReasonFor } from "../../../../../src/domain/skip-reason.ts";
import { worktreeSnapshot } from "../../../../support/tree-snapshot.ts";
import { statesBy } from "../../../../support/worktree-states.ts";
import { failure } from "../worktree-world.ts";
import { inState } from "./state-world.ts";

const kept = statesBy(({ finds }) => finds.length > 0);

describe("it is kept byte for byte, and it is said why, when", () => {
  test.each(kept)("%s", async (_name, state) => {
    const { workspace, ref, path, repository } = await inState(state);
    const before = worktreeSnapshot(repository, path);
    const findings = await workspace.inspect(ref);
    expect({ finds: findings.map(({ kind }) => kind), reason: skipReasonFor(findings) }).toEqual({
      finds: state.finds,
      reason: state.reason,
    });
    const error = await failure(workspace.destroy(ref), "workspace_dirty");
    expect(error.details["findings"]).toMatchObject(state.finds.map((kind) => ({ kind })));
    expect(worktreeSnapshot(repository, path)).toEqual(before);
  });
});
