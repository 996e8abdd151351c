import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { execa } from "execa";
import { describe, expect, onTestFinished, test } from "vitest";
import { cancelTurn } from "../../../../../src/adapters/agents/opencode/cancel-turn.ts";
import { launchConfig } from "../../../../../src/adapters/agents/opencode/launch-config.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { aLaunchRequest } from "../launch-request.ts";

const WORKSPACE = "/home/dev/shop";
const OWN = { id: "ses_own000000", directory: WORKSPACE };
const CHILD = { id: "ses_child0000", directory: WORKSPACE, parentID: OWN.id };
const ELSEWHERE = { id: "ses_other0000", directory: "/home/dev/other" };

interface Step {
  /** A hook of the plugin, or an event that it is told. */
  readonly hook?: string;
  readonly event?: string;
  readonly input: unknown;
  readonly output?: unknown;
}

const event = (type: string, properties: object): Step => ({ event: type, input: properties });
const prompt = (sessionID: string, ...texts: readonly string[]): Step => ({
  hook: "chat.message",
  input: { sessionID },
  output: { message: { id: "msg_1" }, parts: texts.map((text) => ({ type: "text", text })) },
});
const idle = (sessionID: string) => event("session.idle", { sessionID });
const busy = (sessionID: string) => event("session.status", { sessionID, status: { type: "busy" } });

function aLaunch(given?: string, permissions: "default" | "accept-edits" = "default") {
  const dataDir = tempDir();
  const launchDir = join(dataDir, "launch", "app-7", "l-1");
  mkdirSync(launchDir, { recursive: true });
  const request = aLaunchRequest({ launchDir, workspacePath: WORKSPACE, permissions });
  for (const { path, content } of launchConfig(request, given).files) writeFileSync(path, content);
  return { dataDir, launchDir };
}

/** A process that loads the plugin of a launch as opencode does, and goes through steps. */
const DRIVER = `
const [plugin, steps, infos] = process.argv.slice(1);
const { AoEvents } = await import(plugin);
const known = JSON.parse(infos);
const ended = (id) => hooks.event({ event: { type: "session.idle", properties: { sessionID: id } } });
const session = {
  get: async ({ path: { id } }) => ({ data: known.find((one) => one.id === id) }),
  abort: async ({ path: { id } }) => {
    await hooks.event({ event: { type: "session.error", properties: { sessionID: id, error: { name: "MessageAbortedError" } } } });
    await ended(id);
  },
};
const hooks = await AoEvents({ client: { session } });
const outputs = [];
for (const { hook, event, input, output } of JSON.parse(steps)) {
  if (event) await hooks.event?.({ event: { type: event, properties: input } });
  else await hooks[hook]?.(input, output);
  outputs.push(output ?? input);
}
console.log(JSON.stringify(outputs));
if (process.env.STAYS) setInterval(() => {}, 1000);
`;

function drive(
  launch: ReturnType<typeof aLaunch>,
  steps: readonly Step[],
  more: Record<string, string> = {},
) {
  const plugin = pathToFileURL(join(launch.launchDir, "opencode-plugin.js")).href;
  const args = ["--input-type=module", "-e", DRIVER, plugin, JSON.stringify(steps)];
  const infos = JSON.stringify([OWN, CHILD, ELSEWHERE]);
  const own = { AO_SESSION_ID: "app-7", AO_LAUNCH_ID: "l-1", AO_DATA_DIR: launch.dataDir };
  writeFileSync(join(launch.launchDir, "package.json"), '{"type":"module"}');
  const child = execa(process.execPath, [...args, infos], { env: { ...own, ...more }, timeout: 30_000 });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function told({ dataDir }: ReturnType<typeof aLaunch>): readonly (readonly [string, unknown])[] {
  const folder = join(dataDir, "inbox", "new");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const [head = "", body = ""] = readFileSync(join(folder, name), "utf8").split("\n\n");
      return [/^event (.*)$/m.exec(head)?.[1] ?? "", JSON.parse(body)] as const;
    });
}

async function toldOf(...steps: readonly Step[]) {
  const launch = aLaunch();
  await drive(launch, steps);
  return told(launch);
}

const names = (events: readonly (readonly [string, unknown])[]) => events.map(([name]) => name);

describe("the plugin tells", () => {
  test("a turn of the session's own conversation, once, in private files of the inbox", async () => {
    const launch = aLaunch();
    await drive(launch, [prompt(OWN.id, "a", "b"), busy(OWN.id), idle(OWN.id), idle(OWN.id)]);
    expect(told(launch)).toEqual([
      ["chat.message", { sessionID: OWN.id, messageID: "msg_1", text: "a\nb", isDuring: false }],
      ["session.idle", { sessionID: OWN.id, error: null, isRefused: false }],
    ]);
    const [first = ""] = readdirSync(join(launch.dataDir, "inbox", "new"));
    const file = join(launch.dataDir, "inbox", "new", first);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toMatch(
      /^ao-hook 1\nsession app-7\nlaunch l-1\nagent opencode\nevent chat\.message\ntime \d+\n\n/,
    );
  });

  test("nothing of a sub-agent, nor of a conversation in another folder", async () => {
    const worked = (sessionID: string): Step => ({ hook: "tool.execute.after", input: { sessionID } });
    const steps = [CHILD, ELSEWHERE].flatMap(({ id }) => [prompt(id, "x"), busy(id), worked(id), idle(id)]);
    expect(await toldOf(...steps)).toEqual([]);
    const late = await toldOf(prompt(OWN.id, "x"), idle(OWN.id), worked(OWN.id), ...steps);
    expect(names(late)).toEqual(["chat.message", "session.idle"]);
  });

  test("that it works again only when nobody is asked for leave any more, a sub-agent's question included", async () => {
    const asked = (id: string, sessionID: string) => event("permission.asked", { id, sessionID });
    const replied = (requestID: string, sessionID: string) =>
      event("permission.replied", { requestID, sessionID, reply: "once" });
    const worked: Step = { hook: "tool.execute.after", input: { sessionID: OWN.id } };
    const heard = await toldOf(
      ...[prompt(OWN.id, "x"), asked("per_1", OWN.id), asked("per_2", CHILD.id), worked],
      ...[replied("per_1", OWN.id), worked, replied("per_2", CHILD.id), worked],
    );
    expect(names(heard)).toEqual([
      ...["chat.message", "permission.asked", "permission.asked"],
      ...["permission.replied", "tool.execute.after"],
    ]);
  });

  test("an error, a no that ends the turn, and none of a no after which it went on", async () => {
    const no = event("permission.replied", { requestID: "per_1", sessionID: OWN.id, reply: "reject" });
    const error = { name: "APIError", data: { message: "scripted 400" } };
    const heard = await toldOf(
      ...[prompt(OWN.id, "x"), event("session.error", { sessionID: OWN.id, error }), idle(OWN.id)],
      ...[prompt(OWN.id, "y"), no, idle(OWN.id)],
      ...[prompt(OWN.id, "z"), no, busy(OWN.id), idle(OWN.id)],
    );
    expect(heard.filter(([name]) => name === "session.idle").map(([, body]) => body)).toEqual([
      { sessionID: OWN.id, error: { name: "APIError", message: "scripted 400" }, isRefused: false },
      { sessionID: OWN.id, error: null, isRefused: true },
      { sessionID: OWN.id, error: null, isRefused: false },
    ]);
  });

  test("a prompt that comes while a turn runs as a part of it", async () => {
    const heard = await toldOf(prompt(OWN.id, "x"), prompt(OWN.id, "y"), idle(OWN.id));
    expect(heard.map(([, body]) => body)).toMatchObject([{ isDuring: false }, { isDuring: true }, {}]);
  });

  test("nothing from another process of the launch, nor of another launch", async () => {
    const launch = aLaunch();
    await drive(launch, [prompt(OWN.id, "x")]);
    await drive(launch, [prompt(OWN.id, "y")]);
    await drive(aLaunch(), [prompt(OWN.id, "z")], { AO_LAUNCH_ID: "l-2", AO_DATA_DIR: launch.dataDir });
    expect(told(launch).map(([, body]) => body)).toMatchObject([{ text: "x" }]);
  });
});

describe("the plugin changes", () => {
  const config = (given: object): Step => ({ hook: "config", input: given });
  const changed = async (launch: ReturnType<typeof aLaunch>, step: Step) => {
    const { stdout } = await drive(launch, [step]);
    return (JSON.parse(stdout) as readonly unknown[])[0];
  };

  test("sharing alone, where the user said nothing of it", async () => {
    expect(await changed(aLaunch(), config({ permission: "ask" }))).toEqual({
      permission: "ask",
      share: "disabled",
    });
    expect(await changed(aLaunch(), config({ share: "auto" }))).toEqual({ share: "auto" });
  });

  test("the leave for edits where they are accepted, and nothing of the rest", async () => {
    const launch = () => aLaunch(undefined, "accept-edits");
    const share = "manual";
    expect(await changed(launch(), config({ share, permission: "ask" }))).toEqual({
      ...{ share, permission: { "*": "ask", edit: "allow" } },
    });
    expect(await changed(launch(), config({ share, permission: { bash: "deny", edit: "ask" } }))).toEqual({
      ...{ share, permission: { bash: "deny", edit: "allow" } },
    });
  });

  test("back for tools what the user's environment had", async () => {
    const step: Step = { hook: "shell.env", input: {}, output: { env: {} } };
    expect(await changed(aLaunch('{"username":"a"}'), step)).toEqual({
      env: { OPENCODE_CONFIG_CONTENT: '{"username":"a"}' },
    });
  });
});

describe("a turn is stopped through the door of its launch", () => {
  const cancel = (
    { launchDir }: ReturnType<typeof aLaunch>,
    agentSessionId: string | null,
    answerMs?: number,
  ) => cancelTurn({ launchDir, agentSessionId }, answerMs);

  test("when it runs, and then its end is told", async () => {
    const launch = aLaunch();
    drive(launch, [prompt(OWN.id, "x")], { STAYS: "1" }).catch(() => undefined);
    await expect.poll(() => told(launch).length, { timeout: 20_000 }).toBe(1);
    expect(await cancel(launch, OWN.id)).toEqual({ kind: "confirmed" });
    expect(told(launch).at(-1)).toMatchObject(["session.idle", { error: { name: "MessageAbortedError" } }]);
    expect(await cancel(launch, OWN.id)).toEqual({ kind: "target_absent" });
    expect(readdirSync(join(launch.launchDir, "door"))).toEqual([]);
  });

  test("by nobody while no agent answers, and what was asked is taken back", async () => {
    const launch = aLaunch();
    expect(await cancel(launch, null)).toMatchObject({ kind: "disconnected" });
    expect(await cancel(launch, OWN.id, 200)).toMatchObject({ kind: "disconnected" });
    expect(readdirSync(join(launch.launchDir, "door"))).toEqual([]);
  });
});
