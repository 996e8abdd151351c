import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { opencodeAgent } from "../../../../../src/adapters/agents/opencode/opencode-agent.ts";
import { activityFromScreen } from "../../../../../src/domain/activity-from-screen.ts";
import { isAoError } from "../../../../../src/domain/errors.ts";
import type { LaunchRequest } from "../../../../../src/ports/agent.ts";
import { aLaunchRequest } from "../launch-request.ts";
import { CONVERSATION, recorded } from "./recorded.ts";

const launch = (
  over: Partial<LaunchRequest> = {},
  env: Readonly<Record<string, string>> = { HOME: "/home/dev" },
) => opencodeAgent({ env }).launch(aLaunchRequest(over));
const configOf = (plan: ReturnType<typeof launch>): unknown =>
  JSON.parse(plan.env["OPENCODE_CONFIG_CONTENT"] ?? "");
const PLUGIN = "file:///data/launch/app-7/opencode-plugin.js";

describe("a launch of opencode", () => {
  test("adds a plugin of its own to the user's settings, and changes nothing else", () => {
    expect(configOf(launch())).toEqual({ plugin: [PLUGIN] });
    const given = { username: "a", share: "auto", plugin: ["their-plugin"] };
    const plan = launch({}, { OPENCODE_CONFIG_CONTENT: JSON.stringify(given) });
    expect(configOf(plan)).toEqual({ ...given, plugin: ["their-plugin", PLUGIN] });
    const settings = plan.files.find(({ path }) => path.endsWith("plugin.json"))?.content ?? "";
    expect(JSON.parse(settings)).toMatchObject({ configContent: JSON.stringify(given) });
  });

  test("names its plugin by a URL that leads there, whatever the data directory is called", () => {
    const launchDir = "/home/a#b/100%?/launch";
    const { plugin } = configOf(launch({ launchDir })) as { readonly plugin: readonly string[] };
    expect(plugin.map((url) => fileURLToPath(url))).toEqual([`${launchDir}/opencode-plugin.js`]);
  });

  test("takes the settings that the project's environment has in place of the caller's", () => {
    const caller = { OPENCODE_CONFIG_CONTENT: '{"username":"caller"}' };
    const projectEnv = { OPENCODE_CONFIG_CONTENT: '{"username":"project"}' };
    expect(configOf(launch({ projectEnv }, caller))).toEqual({ username: "project", plugin: [PLUGIN] });
  });

  test.each(["{ // a comment\n}", "[]", "7"])(
    "is refused with settings that it cannot join: %j",
    (content) => {
      const refused = () => launch({}, { OPENCODE_CONFIG_CONTENT: content });
      expect(refused).toThrow(expect.toSatisfy((error: unknown) => isAoError(error, "usage")));
    },
  );

  test("does not update itself unless the user's environment says so", () => {
    expect(launch().env["OPENCODE_DISABLE_AUTOUPDATE"]).toBe("1");
    expect(launch({}, { OPENCODE_DISABLE_AUTOUPDATE: "0" }).env["OPENCODE_DISABLE_AUTOUPDATE"]).toBe("0");
  });

  test("asks for the model and for leave as it was told", () => {
    const argv = (over: Partial<LaunchRequest>) => launch(over).argv;
    expect(argv({})).toEqual(["opencode"]);
    expect(argv({ model: "a/b", permissions: "bypass" })).toEqual(["opencode", "--auto", "--model=a/b"]);
    const edits = launch({ permissions: "accept-edits" });
    expect(edits.argv).toEqual(["opencode"]);
    expect(edits.files.some(({ content }) => content.includes('"acceptsEdits":true'))).toBe(true);
  });

  test("takes its own conversation up, and none without an id", () => {
    const agent = opencodeAgent({ env: {} });
    const { argv } = agent.resume(aLaunchRequest({ agentSessionId: CONVERSATION }));
    expect(argv).toEqual(["opencode", "--session", CONVERSATION]);
  });
});

test.each([
  ["idle", "ready"],
  ["busy", "active"],
  ["permission", "waiting_input"],
])("its recorded screen when %s says %s", (name, state) => {
  const { screen } = opencodeAgent({ env: {} });
  if (screen === undefined) throw new Error("it has no screen");
  const lines = recorded(`screen-${name}.txt`).split("\n");
  const { launchId } = aLaunchRequest();
  expect(activityFromScreen(screen, { lines, changedAtMs: 1 }, launchId)?.state).toBe(state);
});
