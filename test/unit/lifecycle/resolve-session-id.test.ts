import { describe, expect, test } from "vitest";
import { resolveSessionId } from "../../../src/lifecycle/resolve-session-id.ts";
import { aSession } from "../../support/builders.ts";
import { aWorld } from "../../support/world.ts";

function resolve(text: string, callerEnv: Record<string, string> = {}) {
  const { deps } = aWorld({ callerEnv });
  deps.store.insert(aSession({ id: "app-1" }));
  deps.store.insert(aSession({ id: "app-12", projectId: "web" }));
  return resolveSessionId(deps, text);
}

describe("a session is named", () => {
  test.each([
    ["by its id", "app-1", {}, "app-1"],
    ["by project and id", "web:app-12", {}, "app-12"],
    ["by @ inside of it", "@", { AO_SESSION_ID: "app-12" }, "app-12"],
  ])("%s", (_name, text, env, expected) => {
    expect(resolve(text, env)).toBe(expected);
  });

  test.each([
    ["by a prefix of an id", "app"],
    ["by a part of a number", "app-"],
    ["by an id that is none's", "app-3"],
    ["by an id of another project", "app:app-12"],
    ["by two projects", "web:web:app-12"],
    ["by nothing", ""],
    ["by text of a shell", "$(touch x)"],
    ["by text without end", "x".repeat(1_000_000)],
  ])("never %s", (_name, text) => {
    expect(() => resolve(text)).toThrow(expect.objectContaining({ code: "session_not_found" }));
  });

  test("by @ outside of one is a usage error", () => {
    expect(() => resolve("@")).toThrow(expect.objectContaining({ code: "usage" }));
    expect(() => resolve("@", { AO_SESSION_ID: "" })).toThrow(expect.objectContaining({ code: "usage" }));
  });

  test("in an error without the rest of an endless name", () => {
    expect(() => resolve("x".repeat(1_000_000))).toThrow(/^.{1,120}$/);
  });
});
