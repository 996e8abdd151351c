import { describe, expect, test } from "vitest";
import { shellAgent } from "../../../../../src/adapters/agents/shell/shell-agent.ts";
import { aLaunchRequest } from "../launch-request.ts";

describe("the shell agent", () => {
  test("runs exactly the user's arguments", () => {
    const { argv } = shellAgent().launch(aLaunchRequest({ extraArgs: ["-rf", "$(touch x)", "a\nb"] }));
    expect(argv).toEqual(["-rf", "$(touch x)", "a\nb"]);
  });

  test("names the prompt file in the environment", () => {
    const request = aLaunchRequest({ extraArgs: ["cat"], promptFile: "/data/launch/app-7/prompt" });
    expect(shellAgent().launch(request).env).toEqual({ AO_PROMPT_FILE: "/data/launch/app-7/prompt" });
  });

  test("without a command is refused with what to type", () => {
    expect(() => shellAgent().launch(aLaunchRequest())).toThrow(
      expect.objectContaining({ code: "usage", hint: expect.stringContaining("-- <command>") }),
    );
  });

  test("takes no conversation up again and says how to start anew", () => {
    expect(() => shellAgent().resume(aLaunchRequest({ extraArgs: ["cat"] }))).toThrow(
      expect.objectContaining({
        code: "agent_session_unknown",
        hint: expect.stringContaining("restore --fresh"),
      }),
    );
  });
});
