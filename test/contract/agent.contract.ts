import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAoError } from "../../src/domain/errors.ts";
import type { HookEvent } from "../../src/domain/facts.ts";
import { parseLaunchId, parseProjectId, parseSessionId } from "../../src/domain/ids.ts";
import { ACTIVITY_STATES } from "../../src/domain/lifecycle.ts";
import type {
  Agent,
  AgentSignal,
  ForkAnswer,
  ForkRequest,
  LaunchPlan,
  LaunchRequest,
} from "../../src/ports/agent.ts";

/** One agent under test, and how to make it know a conversation. */
export interface AgentSetup {
  readonly agent: Agent;
  /** A data directory that need not exist. */
  readonly dataDir: string;
  /** A folder that a copy of a conversation goes to; absent when it need not be there. */
  readonly forkWorkspace?: string;
  /** Makes a conversation as if it had been held; missing when the agent keeps none. */
  readonly know?: (agentSessionId: string) => void;
  /** Puts something that cannot be read where a conversation is looked for; missing when that cannot be. */
  readonly hide?: (agentSessionId: string) => void;
  /**
   * Makes a conversation of two turns as if it had been held, for an agent that copies conversations, and gives the
   * position of the last entry of each turn.
   */
  readonly converse?: (agentSessionId: string) => readonly [number, number];
  /** For an agent whose environment says where its conversations are: one that was launched where they are not. */
  readonly moved?: {
    /** The same agent for a caller with another environment. */
    readonly agent: Agent;
    /** The environment that leads to where `know` and `converse` make them. */
    readonly env: Readonly<Record<string, string>>;
  };
}

const CONVERSATION = "5f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";
const WORKSPACE = "/data/worktrees/app/app-7";
const PROMPT_FILE = "/data/launch/app-7/prompt";

function parsed<Id>(id: Id | undefined): Id {
  if (id === undefined) throw new Error("bad id in a test");
  return id;
}

function aRequest(over: Partial<LaunchRequest> = {}): LaunchRequest {
  return {
    sessionId: parsed(parseSessionId("app-7")),
    projectId: parsed(parseProjectId("app")),
    launchId: parsed(parseLaunchId("l-1")),
    workspacePath: "/data/worktrees/app/app-7",
    dataDir: "/data",
    launchDir: "/data/launch/app-7",
    promptFile: PROMPT_FILE,
    agentSessionId: CONVERSATION,
    model: null,
    permissions: "default",
    extraArgs: ["--flag", "a b; $(c)"],
    ...over,
  };
}

function frozen(request: LaunchRequest): LaunchRequest {
  return Object.freeze({ ...request, extraArgs: Object.freeze([...request.extraArgs]) });
}

const NEW = "0b0b5f62-6b52-4a6f-8a4a-3c1d5e9f7a21";
const forking = (
  { dataDir, forkWorkspace: workspacePath = WORKSPACE }: AgentSetup,
  throughPosition: number,
  home: string | null = null,
): ForkRequest => ({
  source: { agentSessionId: CONVERSATION, workspacePath: WORKSPACE, home },
  home,
  throughPosition,
  launch: frozen(
    aRequest({
      dataDir,
      workspacePath,
      launchDir: `${dataDir}/launch`,
      agentSessionId: NEW,
      promptFile: null,
    }),
  ),
});

function homeOf({ agent, env }: NonNullable<AgentSetup["moved"]>): string | null {
  return agent.home?.(env, WORKSPACE) ?? null;
}

function valuesOf(plan: LaunchPlan): readonly string[] {
  return [...plan.argv, ...Object.values(plan.env), ...plan.files.map(({ content }) => content)];
}

/** What a signal tells of submitted text. */
function textsOf(signal: AgentSignal | undefined): readonly string[] {
  const turn = signal?.turn;
  const told = [turn && "text" in turn ? turn.text : null];
  return told.filter((text) => typeof text === "string");
}

/** Calls that may be refused are an `AoError` or a plan. */
function attempt(call: () => LaunchPlan): LaunchPlan | string {
  try {
    return call();
  } catch (error) {
    return isAoError(error) ? error.code : `not foreseen: ${String(error)}`;
  }
}

const anEvent = (event: string, body: string): HookEvent => ({
  id: "1",
  sessionId: "app-7",
  launchId: "l-1",
  agent: "any",
  event,
  atMs: 1_700_000_000_000,
  body,
});

const SOME_EVENTS = ["session_start", "submit", "waiting", "turn_end", "session_end", "active", "Stop", ""];

type Accepted = Extract<ForkAnswer, { readonly kind: "accepted" }>;

function accepted(answer: ForkAnswer): Accepted {
  if (answer.kind === "accepted") return answer;
  throw new Error(`refused: ${answer.why}`);
}

/** What every `Agent` owes its callers. Run it against each adapter and the twin. */
export function agentContract(name: string, open: () => AgentSetup): void {
  describe(`${name} is an Agent`, () => {
    describe("a launch plan", () => {
      test("has a program, a settle time and no file outside of the launch folder", () => {
        const plan = open().agent.launch(aRequest());
        expect(plan.argv[0]).toBeTruthy();
        expect(plan.settleMs).toBeGreaterThan(0);
        const outside = plan.files.filter(({ path }) => !path.startsWith("/data/launch/app-7/"));
        expect(outside).toEqual([]);
      });

      test("is the same for the same request, which it leaves as it is", () => {
        const { agent } = open();
        const request = frozen(aRequest());
        expect(agent.launch(request)).toEqual(agent.launch(request));
      });

      test("carries the user's own arguments literally and in order", () => {
        const { argv } = open().agent.launch(aRequest());
        expect(argv.slice(-2)).toEqual(["--flag", "a b; $(c)"]);
      });

      test("names no prompt file when there is no prompt", () => {
        const plan = open().agent.launch(aRequest({ promptFile: null }));
        expect(valuesOf(plan).filter((value) => value.includes(PROMPT_FILE))).toEqual([]);
      });

      test("never sets a name that tells the agent its session", () => {
        const { env } = open().agent.launch(aRequest());
        const reserved = ["AO_SESSION_ID", "AO_SESSION", "AO_LAUNCH_ID", "AO_DATA_DIR", "AO_PROJECT_ID"];
        expect(reserved.filter((key) => key in env)).toEqual([]);
      });
    });

    describe("its capabilities", () => {
      test("agree with each other", () => {
        const { pinsSessionId, resume, fork, hooks, receipts } = open().agent.capabilities;
        expect({
          receiptsWithoutHooks: receipts && !hooks,
          forkWithoutResume: fork !== "none" && !resume,
        }).toEqual({ receiptsWithoutHooks: false, forkWithoutResume: false });
        expect(pinsSessionId && !resume).toBe(false);
      });

      test("an agent that is stopped by keys tells through a hook that it stopped", () => {
        const { cancel, capabilities } = open().agent;
        if (cancel?.kind !== "keys") return;
        expect(cancel.keys.filter((key) => !/^[A-Za-z0-9-]+$/.test(key))).toEqual([]);
        expect(cancel.keys.length).toBeGreaterThan(0);
        expect(capabilities.hooks).toBe(true);
      });

      test("a pinned conversation is in the launch, and a launch without one is refused", () => {
        const { agent } = open();
        if (!agent.capabilities.pinsSessionId) return;
        expect(agent.launch(aRequest()).argv).toContain(CONVERSATION);
        expect(attempt(() => agent.launch(aRequest({ agentSessionId: null })))).toBe("usage");
      });

      test("a conversation it can resume is in the plan; else resuming is refused", () => {
        const { agent } = open();
        const plan = attempt(() => agent.resume(aRequest()));
        if (!agent.capabilities.resume) return expect(plan).toBe("agent_session_unknown");
        expect(plan).toMatchObject({ argv: expect.arrayContaining([CONVERSATION]) });
        expect(agent.resume(frozen(aRequest()))).toEqual(plan);
      });

      test("resuming without an id is refused", () => {
        const { agent } = open();
        expect(attempt(() => agent.resume(aRequest({ agentSessionId: null })))).toBe("agent_session_unknown");
      });
    });

    describe("a fork of it", () => {
      test("is of the kind that its capabilities tell", () => {
        const { fork, capabilities } = open().agent;
        expect(fork?.kind ?? "none").toBe(capabilities.fork);
      });

      test("by a copy is known under the new id, and the first conversation says what it said", async () => {
        const setup = open();
        const { agent, dataDir, converse } = setup;
        if (agent.fork?.kind !== "prefix") return;
        const [first] = converse?.(CONVERSATION) ?? [0, 0];
        const where = { dataDir, workspacePath: WORKSPACE, home: null };
        const before = await agent.readConversation?.(CONVERSATION, where);
        const { agentSessionId, inheritedThrough } = accepted(await agent.fork.copy(forking(setup, first)));
        expect(agentSessionId).not.toBe(CONVERSATION);
        const copied = { dataDir, workspacePath: setup.forkWorkspace ?? WORKSPACE, home: null };
        expect(await agent.hasConversation(agentSessionId, copied)).toBe(true);
        expect(await agent.readConversation?.(CONVERSATION, where)).toEqual(before);
        const told = (await agent.readConversation?.(agentSessionId, copied)) ?? [];
        expect(
          told.filter(({ position }) => inheritedThrough === null || position > inheritedThrough),
        ).toEqual([]);
      });

      test("by a copy is refused, and makes nothing, without that conversation, and never takes a taken id", async () => {
        const setup = open();
        const { agent, dataDir, know, converse } = setup;
        if (agent.fork?.kind !== "prefix") return;
        const where = { dataDir, workspacePath: WORKSPACE, home: null };
        expect(await agent.fork.copy(forking(setup, 1))).toMatchObject({ kind: "refused" });
        expect(await agent.hasConversation(NEW, where)).toBe(false);
        const [first] = converse?.(CONVERSATION) ?? [0, 0];
        know?.(NEW);
        const taken = await agent.readConversation?.(NEW, where);
        const answer = await agent.fork.copy(forking(setup, first));
        // An agent that chooses the id itself chooses another one.
        expect(answer.kind === "accepted" ? answer.agentSessionId : "refused").not.toBe(NEW);
        expect(await agent.readConversation?.(NEW, where)).toEqual(taken);
      });

      test("by its own command names the first conversation and the new one, the same each time", () => {
        const setup = open();
        const { agent } = setup;
        if (agent.fork?.kind !== "native") return;
        const request = forking(setup, 1);
        const { launch, agentSessionId } = agent.fork.plan(request);
        expect(launch.argv).toContain(CONVERSATION);
        if (agentSessionId !== null) expect(launch.argv).toContain(agentSessionId);
        expect(agentSessionId).not.toBe(CONVERSATION);
        expect(agent.fork.plan(request)).toEqual({ launch, agentSessionId });
      });
    });

    describe("its conversations", () => {
      test("one it keeps is there, others are not", async () => {
        const { agent, dataDir, know } = open();
        const request = { dataDir, workspacePath: WORKSPACE, home: null };
        know?.(CONVERSATION);
        expect(await agent.hasConversation(CONVERSATION, request)).toBe(know !== undefined);
        const other = CONVERSATION.replace("5", "6");
        expect(await agent.hasConversation(other, request)).toBe(false);
      });

      test("one in the home that its launch had is found and read there, whatever the caller's is", async () => {
        const setup = open();
        const { dataDir, moved, converse } = setup;
        expect(moved === undefined).toBe(setup.agent.home === undefined);
        if (moved === undefined) return;
        const { agent } = moved;
        const make = converse ?? setup.know;
        make?.(CONVERSATION);
        const home = homeOf(moved);
        const place = { dataDir, workspacePath: WORKSPACE, home };
        expect(await agent.hasConversation(CONVERSATION, { ...place, home: null })).toBe(false);
        expect(await agent.hasConversation(CONVERSATION, place)).toBe(true);
        const told = await setup.agent.readConversation?.(CONVERSATION, { ...place, home: null });
        expect(await agent.readConversation?.(CONVERSATION, place)).toEqual(told);
      });

      test("one in the home that its launch had is copied there, whatever the caller's is", async () => {
        const setup = open();
        const { dataDir, moved, converse } = setup;
        if (moved?.agent.fork?.kind !== "prefix") return;
        const { agent } = moved;
        const [first] = converse?.(CONVERSATION) ?? [0, 0];
        const home = homeOf(moved);
        const { agentSessionId } = accepted(await moved.agent.fork.copy(forking(setup, first, home)));
        const copied = { dataDir, workspacePath: setup.forkWorkspace ?? WORKSPACE, home };
        expect(await agent.hasConversation(agentSessionId, copied)).toBe(true);
        expect(await agent.hasConversation(agentSessionId, { ...copied, home: null })).toBe(false);
      });

      test("a home that is given relative is one below its workspace", () => {
        const { agent, moved } = open();
        const names = Object.keys(moved?.env ?? {});
        const env = Object.fromEntries(names.map((name) => [name, "own"]));
        if (names.length > 0) expect(agent.home?.(env, WORKSPACE)).toMatch(new RegExp(`^${WORKSPACE}/own`));
      });

      test("one that cannot be looked at is not taken for none", async () => {
        const { agent, dataDir, hide } = open();
        if (hide === undefined) return;
        hide(CONVERSATION);
        await expect(
          agent.hasConversation(CONVERSATION, { dataDir, workspacePath: WORKSPACE, home: null }),
        ).rejects.toMatchObject({ code: "agent_unavailable" });
        const place = { dataDir, workspacePath: WORKSPACE, home: null };
        expect((await agent.readConversation?.(CONVERSATION, place)) ?? null).toBe(null);
      });

      test("one that it forgets is gone, another stays, and forgetting it again is no error", async () => {
        const { agent, dataDir, know } = open();
        const other = CONVERSATION.replace("5", "6");
        know?.(CONVERSATION);
        know?.(other);
        await agent.forgetConversation?.(CONVERSATION, { dataDir });
        await agent.forgetConversation?.(CONVERSATION, { dataDir });
        const has = (id: string) =>
          agent.hasConversation(id, { dataDir, workspacePath: WORKSPACE, home: null });
        const keeps = know !== undefined;
        const forgets = agent.forgetConversation !== undefined;
        expect([await has(CONVERSATION), await has(other)]).toEqual([keeps && !forgets, keeps]);
      });

      test.each(["", "..", "../../etc/passwd", "/etc/passwd", "a\0b", "*"])("%j names none", async (id) => {
        const { agent, dataDir } = open();
        expect(await agent.hasConversation(id, { dataDir, workspacePath: "/", home: null })).toBe(false);
      });
    });

    test("the check of an empty search path answers and does not throw", async () => {
      const { kind } = await open().agent.check("");
      expect(["ok", "missing", "too_old", "failed"]).toContain(kind);
    });

    test("whatever a hook event holds, it is a signal or undefined, and the same each time", () => {
      const { agent } = open();
      const names = fc.oneof(fc.constantFrom(...SOME_EVENTS), fc.string());
      const bodies = fc.oneof(fc.string({ unit: "binary" }), fc.json());
      fc.assert(
        fc.property(names, bodies, (event, body) => {
          const signal = agent.interpret(anEvent(event, body));
          expect(agent.interpret(anEvent(event, body))).toEqual(signal);
          if (signal?.activity) expect(ACTIVITY_STATES).toContain(signal.activity);
          if (!agent.capabilities.receipts) expect(textsOf(signal)).toEqual([]);
        }),
      );
    });

    test("an agent without hooks hears nothing in any event", () => {
      const { agent } = open();
      if (agent.capabilities.hooks) return;
      expect(SOME_EVENTS.map((event) => agent.interpret(anEvent(event, "{}")))).toEqual(
        SOME_EVENTS.map(() => undefined),
      );
    });
  });
}
