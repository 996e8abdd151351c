import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTerminal } from "../../../src/domain/lifecycle.ts";
import { toSessionJson } from "../../../src/domain/session-json.ts";
import { deriveStatus } from "../../../src/domain/status.ts";
import { aKilledSession, aSession, T0_MS } from "../../support/builders.ts";
import { anyLifecycle } from "./arbitraries.ts";

const CONTEXT = { projectName: "App", attach: ["tmux", "-S", "/run/t.sock", "attach", "-t", "$3"] };

/** The keys of cli.md §3, in its order. */
const KEYS = [
  "id",
  "projectId",
  "projectName",
  "role",
  "kind",
  "status",
  "title",
  "issueId",
  "agent",
  "branch",
  "baseRef",
  "workspacePath",
  "pr",
  "prNumber",
  "activity",
  "lastActivityAt",
  "isTerminated",
  "createdAt",
  "updatedAt",
  "terminatedAt",
  "agentSessionId",
  "runtime",
  "parentId",
  "forkedFromTurnId",
  "lifecycle",
];

describe("toSessionJson", () => {
  test("a working session is printed whole", () => {
    const record = aSession({
      id: "app-7",
      issueId: "42",
      updatedAtMs: T0_MS + 1,
      lifecycle: {
        revision: 5,
        session: { state: "working", reason: "task_in_progress" },
        pr: { state: "open", reason: "review_pending", number: 9, url: "https://example.test/pull/9" },
        activity: { state: "active", lastActivityAtMs: T0_MS, source: "hook" },
      },
      metadata: {
        title: "Fix the login redirect",
        agent: "claude-code",
        branch: "feat/42-fix-login",
        baseRef: "origin/main",
        agentSessionId: "conversation-1",
      },
    });
    expect(toSessionJson(record, CONTEXT)).toEqual({
      id: "app-7",
      projectId: "app",
      projectName: "App",
      role: "worker",
      kind: "worker",
      status: "review_pending",
      title: "Fix the login redirect",
      issueId: "42",
      agent: "claude-code",
      branch: "feat/42-fix-login",
      baseRef: "origin/main",
      workspacePath: "/nowhere/data/worktrees/app/app-7",
      pr: "https://example.test/pull/9",
      prNumber: 9,
      activity: "active",
      lastActivityAt: "2026-01-02T03:04:05.678Z",
      isTerminated: false,
      createdAt: "2026-01-02T03:04:05.678Z",
      updatedAt: "2026-01-02T03:04:05.679Z",
      terminatedAt: null,
      agentSessionId: "conversation-1",
      runtime: {
        name: "tmux",
        handle: "$3",
        socketPath: "/nowhere/tmux.sock",
        attach: ["tmux", "-S", "/run/t.sock", "attach", "-t", "$3"],
        exit: null,
      },
      parentId: null,
      forkedFromTurnId: null,
      lifecycle: {
        version: 1,
        revision: 5,
        session: { state: "working", reason: "task_in_progress" },
        pr: { state: "open", reason: "review_pending", number: 9, url: "https://example.test/pull/9" },
        runtime: { state: "alive", reason: "process_running" },
        activity: { state: "active", lastActivityAt: "2026-01-02T03:04:05.678Z", source: "hook" },
        detecting: null,
      },
    });
  });

  test("a session of which nothing more is known has null for it, never a missing key", () => {
    const record = aSession({ metadata: { runtime: null, baseRef: null } });
    const json = toSessionJson(record, { projectName: "App", attach: null });
    const empty = Object.entries(json).filter(([, value]) => value === null);
    expect(empty.map(([key]) => key)).toEqual([
      "title",
      "issueId",
      "baseRef",
      "pr",
      "prNumber",
      "activity",
      "lastActivityAt",
      "terminatedAt",
      "agentSessionId",
      "runtime",
      "parentId",
      "forkedFromTurnId",
    ]);
    expect(Object.keys(json.lifecycle.pr)).toEqual(["state", "reason", "number", "url"]);
  });

  test("the memory of doubt is printed with an ISO time", () => {
    const detecting = { attempts: 2, startedAtMs: T0_MS, evidenceHash: "abc" };
    const json = toSessionJson(aSession({ lifecycle: { detecting } }), CONTEXT);
    expect(json.lifecycle.detecting).toEqual({
      attempts: 2,
      startedAt: "2026-01-02T03:04:05.678Z",
      evidenceHash: "abc",
    });
  });

  test("a killed session is terminated and says when", () => {
    expect(toSessionJson(aKilledSession(), CONTEXT)).toMatchObject({
      status: "killed",
      isTerminated: true,
      terminatedAt: "2026-01-02T03:04:06.678Z",
    });
  });

  test("keys and their order are always the same, and survive JSON", () => {
    fc.assert(
      fc.property(anyLifecycle, fc.constantFrom("worker", "orchestrator"), (lifecycle, kind) => {
        const json = toSessionJson(aSession({ lifecycle, kind }), CONTEXT);
        const printed = JSON.parse(JSON.stringify(json));
        expect(Object.keys(printed)).toEqual(KEYS);
        expect(printed).toEqual(json);
        expect(json).toMatchObject({
          role: kind,
          status: deriveStatus(lifecycle),
          isTerminated: isTerminal(lifecycle),
        });
      }),
    );
  });
});
