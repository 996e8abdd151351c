import { describe, expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import { aKilledSession, sessionId } from "../../support/builders.ts";
import { sendSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld } from "../../support/world.ts";

describe("spawn", () => {
  test("ends its plain output with SESSION=<id>", async () => {
    const argv = ["spawn", "42", "--title", "Fix it", "--prompt", "Fix the login"];
    const { exitCode, stdout, stderr } = await memoryCli(aWorld(), argv);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/\nSESSION=app-1\n$/);
    expect(stdout).toContain("feat/42-fix-it");
  });

  test.each<[readonly string[], string]>([
    [[], 'app-1 was given nothing to do yet: ao send app-1 "…"\n'],
    [["42"], 'app-1 was given nothing to do yet: ao send app-1 "…"\n'],
    [["--", "npm", "test"], ""],
    [["--json"], ""],
  ])("%j says when nobody told the agent what to do", async (argv, told) => {
    expect((await memoryCli(aWorld(), ["spawn", ...argv])).stderr).toBe(told);
  });

  test("gives the agent what follows --, also flags of its own name", async () => {
    const world = aWorld();
    await memoryCli(world, ["spawn", "--", "--json", "-p", "x"]);
    expect(world.row(sessionId("app-1")).metadata.agentArgs).toEqual(["--json", "-p", "x"]);
  });

  test("takes the prompt from standard input byte for byte", async () => {
    const world = aWorld();
    const prompt = "line one\r\n\ttwo \u{1f600} $(touch x) #(y)\n";
    await memoryCli(world, ["spawn", "--prompt-file", "-"], { stdin: prompt });
    expect(world.deps.store.promptOf(sessionId("app-1"))).toBe(prompt);
  });

  test("tells what is odd about the configuration, never with --json", async () => {
    const warnings = ["ao.yaml:3: unknown key agnet"];
    expect((await memoryCli(aWorld(), ["spawn", "--prompt", "x"], { warnings })).stderr).toBe(
      `warning: ${warnings[0]}\n`,
    );
    expect((await memoryCli(aWorld(), ["spawn", "--json"], { warnings })).stderr).toBe("");
  });

  test("tells it once, also when this is the first spawn and makes the data directory", async () => {
    const world = aWorld();
    const warnings = ["ao.yaml:3: unknown key agnet"];
    const { exitCode, stderr } = await memoryCli(world, ["spawn", "--prompt", "x"], {
      warnings,
      isNew: true,
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `warning: ${warnings[0]}\n` });
  });

  test("registers the project it is the first of, and forgets it again when it fails", async () => {
    const world = aWorld();
    world.deps.store.removeProject(world.project.id);
    world.workspace.failNext("create", new AoError("git_failed", "no luck"));
    expect((await memoryCli(world, ["spawn"])).exitCode).toBe(1);
    expect(world.deps.store.projects()).toEqual([]);
    expect((await memoryCli(world, ["spawn"])).exitCode).toBe(0);
    expect(world.deps.store.projects()).toMatchObject([{ id: "app", repositoryPath: "/repo/app" }]);
  });

  test("keeps a project that was registered before it failed", async () => {
    const world = aWorld();
    world.workspace.failNext("create", new AoError("git_failed", "no luck"));
    expect((await memoryCli(world, ["spawn"])).exitCode).toBe(1);
    expect(world.deps.store.projects()).toEqual([world.project]);
  });

  test("prints each step as a line with --verbose", async () => {
    const { stderr } = await memoryCli(aWorld(), ["spawn", "--verbose", "--prompt", "x"]);
    expect(stderr).toBe("ao: creating worktree\nao: starting agent\n");
  });
});

describe("batch-spawn", () => {
  test("skips what was named twice or is worked on, whatever its case", async () => {
    const world = aWorld();
    await world.spawn({ issueId: "INT-1" });
    const { exitCode, stdout } = await memoryCli(world, ["batch-spawn", "int-1", "int-2", "INT-2", "--json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      created: [{ id: "app-2", issueId: "int-2" }],
      skipped: [
        { issueId: "int-1", reason: "live_session", sessionId: "app-1" },
        { issueId: "INT-2", reason: "duplicate", sessionId: null },
      ],
      failed: [],
    });
  });

  test("goes on after a failure and exits 1", async () => {
    const world = aWorld();
    world.failNext("store.insert", new AoError("store_busy", "the store is busy"));
    const { exitCode, stdout } = await memoryCli(world, ["batch-spawn", "1", "2", "--json"]);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      created: [{ issueId: "2" }],
      failed: [{ issueId: "1", error: { code: "agent_start_failed", details: { code: "store_busy" } } }],
    });
  });
});

describe("list", () => {
  test("shows the newest first and counts what it hides", async () => {
    const world = aWorld();
    const first = await world.spawn({ issueId: null });
    for (const issueId of ["1", "2"]) await world.spawn({ issueId });
    await world.kill(first.id);
    const { stdout } = await memoryCli(world, ["list", "--json"]);
    const { data, meta } = JSON.parse(stdout);
    expect(data.map(({ id }: { id: string }) => id)).toEqual(["app-3", "app-2"]);
    expect(meta).toMatchObject({ hiddenTerminatedCount: 1, observedAt: expect.any(String) });
    const all = JSON.parse((await memoryCli(world, ["status", "-a", "--json"])).stdout);
    expect(all.data).toHaveLength(3);
    expect(all.meta.hiddenTerminatedCount).toBe(0);
  });

  test("says nothing on stdout when there is nothing, and an empty list with --json", async () => {
    const plain = await memoryCli(aWorld(), ["list"]);
    expect(plain.stdout).toBe("");
    expect(plain.stderr).toContain("no sessions yet in /data; start one: ao spawn");
    expect(JSON.parse((await memoryCli(aWorld(), ["ls", "--json"])).stdout).data).toEqual([]);
  });

  test.each([0, 1, 32, 33, 70])("prints %d sessions as one value, laid out as any other", async (count) => {
    const world = aWorld();
    for (let number = 1; number <= count; number++) {
      world.deps.store.insert(aKilledSession({ id: sessionId(`app-${number}`), createdAtMs: number }));
    }
    const { stdout } = await memoryCli(world, ["list", "-a", "--json"]);
    const value = JSON.parse(stdout);
    expect(stdout).toBe(`${JSON.stringify(value, null, 2)}\n`);
    const numbers = Array.from({ length: count }, (_, index) => `app-${count - index}`);
    expect(value.data.map(({ id }: { id: string }) => id)).toEqual(numbers);
  });

  test("writes nothing", async () => {
    const world = aWorld();
    await world.spawn();
    world.clearLog();
    await memoryCli(world, ["list"]);
    expect(world.log).toEqual(["runtime.look app-1"]);
  });

  test("keeps a hostile title on one line and its columns aligned", async () => {
    const world = aWorld();
    await world.spawn({ title: "\u{1f680}\u{1f680} 漢字 \u001b[31m" });
    const { stdout } = await memoryCli(world, ["list"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stdout).toContain("\\x1b[31m");
  });

  test("an unknown project is exit 3", async () => {
    expect(await memoryCli(aWorld(), ["list", "-p", "nope"])).toMatchObject({ exitCode: 3, stdout: "" });
  });
});

describe("kill", () => {
  const keep = async (world: ReturnType<typeof aWorld>) => {
    const { id, metadata } = await world.spawn();
    world.workspace.refuse(metadata.workspacePath);
    return id;
  };

  test("tells what was found in a worktree that stays", async () => {
    const world = aWorld();
    const id = await keep(world);
    const { exitCode, stdout, stderr } = await memoryCli(world, ["kill", id]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "" });
    expect(stderr).toMatch(/^ao: session app-1 was terminated, its worktree stays: 1 untracked file\nhint: /);
  });

  test("several with a failure: the worst exit code, and one error that holds failures and results", async () => {
    const world = aWorld();
    const ids = [await keep(world), (await world.spawn({ issueId: "43" })).id];
    const { exitCode, stdout, stderr } = await memoryCli(world, ["kill", ...ids, "--json"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: "workspace_dirty",
        details: {
          results: [{ id: "app-2", workspaceFreed: true }],
          failures: [{ id: "app-1", code: "workspace_dirty" }],
        },
      },
    });
  });

  test("several with a failure tells a person those that worked as well", async () => {
    const world = aWorld();
    const ids = [await keep(world), (await world.spawn({ issueId: "43" })).id];
    const { exitCode, stdout } = await memoryCli(world, ["kill", ...ids]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "app-2 killed, worktree freed\n" });
  });

  test("its note is shown afterwards, to people and scripts", async () => {
    const world = aWorld();
    const { id } = await world.spawn();
    expect(JSON.parse((await memoryCli(world, ["show", id, "--json"])).stdout)).toMatchObject({
      killNote: null,
    });
    await memoryCli(world, ["kill", id, "--note", "superseded by app-9"]);
    expect((await memoryCli(world, ["show", id])).stdout).toMatch(/^ {2}note +superseded by app-9$/m);
    expect(JSON.parse((await memoryCli(world, ["show", id, "--json"])).stdout)).toMatchObject({
      killNote: "superseded by app-9",
    });
  });

  test("conversations that a fresh restore left behind are shown", async () => {
    const world = aWorld();
    const { id, metadata } = await world.spawn();
    await world.kill(id);
    await memoryCli(world, ["restore", id, "--fresh"]);
    expect(JSON.parse((await memoryCli(world, ["show", id, "--json"])).stdout)).toMatchObject({
      previousAgentSessionIds: [metadata.agentSessionId],
    });
    expect((await memoryCli(world, ["show", id])).stdout).toContain(
      `earlier       ${metadata.agentSessionId}`,
    );
  });

  test("one of several that is unknown stops all before anything is done", async () => {
    const world = aWorld();
    const { id } = await world.spawn();
    world.clearLog();
    expect((await memoryCli(world, ["kill", id, "app-9"])).exitCode).toBe(3);
    expect(world.log).toEqual([]);
  });

  test("twice is exit 0", async () => {
    const world = aWorld();
    const { id } = await world.spawn();
    await memoryCli(world, ["kill", id]);
    const again = await memoryCli(world, ["session", "kill", id, "--json"]);
    expect(again.exitCode).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ alreadyTerminated: true });
  });

  test("a session does not kill itself", async () => {
    const world = aWorld({ callerEnv: { PATH: "/bin", AO_SESSION_ID: "app-1" } });
    await world.spawn();
    const { exitCode, stderr } = await memoryCli(world, ["kill", "@"], { env: { AO_SESSION_ID: "app-1" } });
    expect(exitCode).toBe(4);
    expect(stderr).toContain("cannot end itself");
  });
});

/** A session that was never prompted and whose agent rests. */
async function aRestingSession() {
  const world = aWorld();
  const { id } = await world.spawn({ prompt: null });
  await world.hear(id, "ready");
  return { world, id };
}

describe("send", () => {
  const rows: readonly (readonly [string, readonly string[], string | undefined, string])[] = [
    ["words", ["fix", "the  tests"], undefined, "fix the  tests"],
    ["--message", ["--message", "--json"], undefined, "--json"],
    ["standard input", [], "two\nlines\n", "two\nlines\n"],
    ["--file -", ["--file", "-"], "x;", "x;"],
    ["words after --", ["--", "-rf"], undefined, "-rf"],
  ];
  test.each(rows)("takes the message from %s", async (_title, argv, stdin, text) => {
    const { world, id } = await aRestingSession();
    const { exitCode, stdout } = await memoryCli(
      world,
      ["send", id, ...argv],
      stdin === undefined ? {} : { stdin },
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "app-1: delivered\n" });
    expect(world.messenger.sent.at(-1)?.text).toBe(text);
  });

  test("leaves a message queued that is not to be waited for, and says who delivers it", async () => {
    const { world, id } = await aRestingSession();
    const { exitCode, stdout, stderr } = await memoryCli(world, ["send", id, "--no-wait", "hello"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "app-1: queued\n" });
    expect(stderr).toContain("ao reconcile");
    expect(world.messenger.sent).toEqual([]);
  });

  test("leaves a message queued when the agent stays at work, and says what it waits for", async () => {
    const { world, id } = await aRestingSession();
    await world.hear(id, "submit", { body: "begin" });
    const { exitCode, stderr } = await memoryCli(world, ["send", id, "--timeout", "1s", "hello"]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("the message waits: its agent is at work");
  });

  test("prints with --json what scripts rely on, and nothing else", async () => {
    const { world, id } = await aRestingSession();
    const { stdout, stderr } = await memoryCli(world, ["send", id, "--no-wait", "--json", "hello"]);
    expect(sendSchema.parse(JSON.parse(stdout))).toMatchObject({
      sessionId: id,
      state: "queued",
      turnId: null,
    });
    expect(stderr).toBe("");
  });

  test("sends once what is repeated under one request id", async () => {
    const { world, id } = await aRestingSession();
    const once = () => memoryCli(world, ["send", id, "--request-id", "r-1", "--json", "hello"]);
    expect((await once()).stdout).toBe((await once()).stdout);
    expect(world.messenger.sent).toHaveLength(1);
  });

  test("fails when an agent that confirms did not", async () => {
    const { world, id } = await aRestingSession();
    world.messenger.setListener(id, "deaf");
    const { exitCode, stdout, stderr } = await memoryCli(world, ["send", id, "--json", "hello"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(JSON.parse(stderr).error.code).toBe("delivery_unconfirmed");
  });
});

describe("restore", () => {
  test("of a branch that is taken says how to free it, not to choose another", async () => {
    const world = aWorld();
    const { id } = await world.spawn();
    await world.kill(id);
    const taken = new AoError("branch_in_use", "branch feat/42 is checked out at /repo/x", {
      hint: "choose another name with --branch",
      details: { path: "/repo/x", branch: "feat/42" },
    });
    world.workspace.failNext("planRestore", taken);
    await world.files.write("/repo/x/.git", "");
    const { exitCode, stderr } = await memoryCli(world, ["restore", id, "--json"]);
    expect(exitCode).toBe(4);
    expect(JSON.parse(stderr).error).toEqual({
      code: "branch_in_use",
      message: "branch feat/42 is checked out at /repo/x",
      hint: "switch to another branch in /repo/x, then: ao restore app-1",
      details: { path: "/repo/x", branch: "feat/42" },
    });
  });
});

describe("output --follow", () => {
  test("ends with the agent, after its last words", async () => {
    const world = aWorld({ behaviour: () => ({ kind: "stays", output: ["hello", "bye"] }) });
    const { id } = await world.spawn();
    world.runtime.exitAgent(id, 0);
    const { exitCode, stdout } = await memoryCli(world, ["output", id, "-f"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "hello\nbye\n" });
  });
});

describe("agents", () => {
  test("are told without git, and not with a project that is unknown", async () => {
    const world = aWorld();
    world.repositories.failNext(new AoError("git_unavailable", "git is missing"));
    expect((await memoryCli(world, ["agents"])).exitCode).toBe(0);
    const lost = aWorld({ callerEnv: { PATH: "/bin", AO_PROJECT_ID: "nobody" } });
    const { exitCode, stderr } = await memoryCli(lost, ["agents"]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("nobody") });
  });
});

describe("cleanup", () => {
  test("prints what it freed, what it skipped and why", async () => {
    const world = aWorld();
    const { id } = await world.spawn();
    await memoryCli(world, ["kill", id, "--keep-worktree"]);
    const dry = await memoryCli(world, ["cleanup", "--dry-run"]);
    expect(dry).toMatchObject({ exitCode: 0, stdout: "would free app-1\n" });
    const real = await memoryCli(world, ["cleanup", "--json"]);
    expect(JSON.parse(real.stdout)).toEqual({
      cleaned: [{ id: "app-1", projectId: "app", salvageRef: null, remains: null, branchDeleted: null }],
      branchesDeleted: [],
      skipped: [],
      errors: [],
      pool: [],
      dryRun: false,
    });
  });
});
