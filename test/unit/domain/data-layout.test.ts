import { describe, expect, test } from "vitest";
import { dataLayout } from "../../../src/domain/data-layout.ts";
import { projectId, sessionId } from "../../support/builders.ts";

describe("dataLayout", () => {
  test.each([
    ["/data/ao", "/data/ao"],
    ["/data/ao/", "/data/ao"],
    ["/", ""],
    ["/data/with space/#{x}", "/data/with space/#{x}"],
  ])("everything is below %s", (dataDir, root) => {
    const layout = dataLayout(dataDir);
    expect(layout.database).toBe(`${root}/ao.db`);
    expect(layout.worktreesRoot).toBe(`${root}/worktrees`);
    expect(layout.worktree(projectId("app"), sessionId("app-7"))).toBe(`${root}/worktrees/app/app-7`);
    expect(layout.launchDir(sessionId("app-7"))).toBe(`${root}/launch/app-7`);
    expect(layout.inbox).toBe(`${root}/inbox`);
    expect(layout.runtimeState).toBe(`${root}/runtime`);
    expect(layout.locks).toBe(`${root}/locks`);
    expect(layout.trash).toBe(`${root}/trash`);
    expect(layout.transcripts).toBe(`${root}/transcripts`);
    expect(layout.transcriptFolder("app")).toBe(`${root}/transcripts/app`);
    expect(layout.prunedTranscripts).toBe(`${root}/trash/transcripts`);
    expect(layout.draftFolders).toEqual([
      layout.runtimeState,
      layout.declaredAgents,
      layout.unsavedTranscripts,
    ]);
  });
});
