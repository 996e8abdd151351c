import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { codexAgent } from "../../../../../src/adapters/agents/codex/codex-agent.ts";
import { findRollout } from "../../../../../src/adapters/agents/codex/codex-files.ts";
import { copyConversation } from "../../../../../src/adapters/agents/codex/fork-conversation.ts";
import { activityFromScreen } from "../../../../../src/domain/activity-from-screen.ts";
import { parseLaunchId } from "../../../../../src/domain/ids.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { aLaunchRequest } from "../launch-request.ts";
import { CONVERSATION, layRollout, recorded, WORKSPACE } from "./recorded.ts";

const agent = codexAgent({ env: { HOME: "/home/dev" } });
const NEW = "0b0b5f62-6b52-4a6f-8a4a-3c1d5e9f7a21";

/** The settings of a launch, by their names. */
function settingsOf(workspacePath = WORKSPACE): ReadonlyMap<string, string> {
  const { argv } = agent.launch(aLaunchRequest({ workspacePath, launchDir: "/data/launch/it's 1" }));
  const settings = argv.filter((_one, index) => argv[index - 1] === "-c");
  return new Map(settings.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]));
}

describe("a launch of codex", () => {
  test("starts no daemon, trusts this workspace alone, and asks about no update", () => {
    const { argv } = agent.launch(aLaunchRequest({ workspacePath: '/work/a "b" \\ c' }));
    expect(argv.slice(0, 3)).toEqual(["codex", "--no-daemon", "-c"]);
    const settings = settingsOf('/work/a "b" \\ c');
    expect(settings.get("projects")).toBe('{"/work/a \\"b\\" \\\\ c"={trust_level="trusted"}}');
    expect(settings.get("check_for_update_on_startup")).toBe("false");
  });

  test("trusts its own hooks by their digests, and no others: the flag that trusts all is not there", () => {
    const settings = settingsOf();
    expect(settings.get("hooks.Interrupt")).toContain("timeout=3}");
    expect(settings.get("hooks.Stop")).toContain("timeout=10}");
    const keys = [...(settings.get("hooks.state") ?? "").matchAll(/config\.toml:([a-z_]+):0:0/g)];
    expect(keys.map(([, key]) => key)).toEqual([
      ...["session_start", "user_prompt_submit", "post_tool_use", "permission_request", "stop", "interrupt"],
    ]);
    expect(agent.launch(aLaunchRequest()).argv.join(" ")).not.toContain("bypass");
  });

  test.each([
    ["default", []],
    ["accept-edits", ["--sandbox", "workspace-write", "--ask-for-approval", "on-request"]],
    ["bypass", ["--dangerously-bypass-approvals-and-sandbox"]],
  ] as const)("in the mode %s says so", (permissions, args) => {
    const { argv } = agent.launch(aLaunchRequest({ permissions, model: "m", extraArgs: ["--oss"] }));
    expect(argv.slice(-2 - args.length)).toEqual([...args, "--model=m", "--oss"]);
  });

  test("that takes a conversation up names it and the workspace, and is refused without one", () => {
    const { argv } = agent.resume(aLaunchRequest({ agentSessionId: CONVERSATION }));
    const { workspacePath } = aLaunchRequest();
    expect(argv.slice(0, 5)).toEqual(["codex", "resume", CONVERSATION, "--cd", workspacePath]);
    expect(() => agent.resume(aLaunchRequest())).toThrow(/needs a conversation id/);
  });
});

describe("the screens of codex 0.171.0, as they were recorded", () => {
  test.each([
    ["idle", { state: "ready" }],
    ["busy", { state: "active" }],
    ["interrupted", { state: "ready" }],
    ["permission", { state: "waiting_input", asks: "permission" }],
    ["hooks", { state: "waiting_input", asks: "permission" }],
  ])("%s", (name, state) => {
    const { screen = { waiting: [], busy: [], ready: [] } } = agent;
    const lines = recorded(`screen-${name}.txt`).split("\n");
    const launchId = parseLaunchId("l-1") ?? expect.unreachable();
    expect(activityFromScreen(screen, { lines, changedAtMs: 1 }, launchId)).toMatchObject(state);
  });
});

describe("a fork of codex", () => {
  const lines = recorded("rollout.jsonl").trimEnd().split("\n");
  const answered = lines.findIndex((line) => line.includes('"type":"AgentMessage"')) + 1;
  const request = (throughPosition: number) => ({
    source: { agentSessionId: CONVERSATION, workspacePath: WORKSPACE, home: null },
    home: null,
    throughPosition,
    launch: aLaunchRequest({ agentSessionId: NEW, workspacePath: "/work/fork" }),
  });

  async function copyOf(throughPosition: number) {
    const folder = tempDir();
    layRollout(folder);
    const answer = await copyConversation({ from: folder, to: folder }, request(throughPosition));
    const path = (await findRollout(folder, NEW)) ?? expect.unreachable();
    return { answer, copy: readFileSync(path, "utf8").trimEnd().split("\n") };
  }

  test("has its turn whole, also when the end was written after what was said last", async () => {
    const end = lines.findIndex((line) => line.includes('"type":"task_complete"')) + 1;
    const { answer, copy } = await copyOf(answered);
    expect(copy).toHaveLength(end);
    expect(answer).toEqual({ kind: "accepted", agentSessionId: NEW, inheritedThrough: end });
  });

  test("is named and placed anew, and what the model was told stays byte for byte", async () => {
    const { copy } = await copyOf(answered);
    const [head] = copy;
    expect(JSON.parse(head ?? "")).toMatchObject({
      payload: { id: NEW, session_id: NEW, cwd: "/work/fork" },
    });
    const isTold = (line: string) => line.includes('"type":"response_item"');
    expect(copy.filter(isTold)).toEqual(lines.slice(0, copy.length).filter(isTold));
    expect(copy.filter((line) => !isTold(line)).join("\n")).not.toContain(`"${CONVERSATION}"`);
  });

  test("is refused where nothing was said, and without a conversation of that workspace", async () => {
    const folder = tempDir();
    layRollout(folder);
    expect(await copyConversation({ from: folder, to: folder }, request(1))).toMatchObject({
      kind: "refused",
    });
    const elsewhere = {
      ...request(answered),
      source: { agentSessionId: CONVERSATION, workspacePath: "/x", home: null },
    };
    expect(await copyConversation({ from: folder, to: folder }, elsewhere)).toMatchObject({
      kind: "refused",
    });
    expect(await findRollout(folder, NEW)).toBeUndefined();
  });
});
