import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseProjectId, parseSessionId } from "../../../src/domain/ids.ts";
import { deriveBranch, derivePrefix, deriveProjectId, slugify } from "../../../src/domain/names.ts";
import { sessionId } from "../../support/builders.ts";
import { anyText } from "./arbitraries.ts";

const TEN_MEGABYTES = "fix ".repeat(2_500_000);
const HOSTILE = [
  "#(touch x)",
  "$(touch x)",
  "`touch x`",
  "../..",
  "-rf",
  "--force",
  "a\nb",
  "a\0b",
  "🚀🎉",
  "",
  "   ",
  "HEAD",
  "@{-1}",
  "a..b",
  "a.lock",
  ".hidden",
  "refs/heads/main",
  "a~1^2:c?*[\\",
  "\u202egnp.exe",
  "\u001b[31mred",
  "日本語",
  "\ud800",
  "ﷺ".repeat(400),
  TEN_MEGABYTES,
];

/** Throws unless git takes the name for a branch (git-check-ref-format(1)). */
function checkWithGit(branch: string): void {
  execFileSync("git", ["check-ref-format", "--branch", branch], { timeout: 10_000, stdio: "ignore" });
}

describe("slugify", () => {
  test.each([
    ["Fix the login redirect", "fix-the-login-redirect"],
    ["  --Fix: login / redirect!  ", "fix-login-redirect"],
    ["snake_case stays words", "snake-case-stays-words"],
    ["Élan über São Paulo", "elan-uber-sao-paulo"],
    ["ｆｕｌｌ＿ｗｉｄｔｈ", "full-width"],
    ["10 ㎀", "10-pa"],
    ["__init__", "init"],
    ["#(touch x)", "touch-x"],
    ["$(touch x)", "touch-x"],
    ["../..", ""],
    ["-rf", "rf"],
    ["a\nb\0c", "a-b-c"],
    ["🚀🎉", ""],
    ["日本語", ""],
    ["", ""],
    ["fix ".repeat(20), "fix-fix-fix-fix-fix-fix-fix-fix-fix-fix"],
  ])("%j becomes %j", (text, slug) => {
    expect(slugify(text)).toBe(slug);
  });

  test("ten megabytes become a short slug", () => {
    expect(slugify(TEN_MEGABYTES)).toBe("fix-fix-fix-fix-fix-fix-fix-fix-fix-fix");
  });

  test("any text becomes at most 40 of a-z, 0-9 and single dashes inside", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(slugify(text)).toMatch(/^(?:[a-z0-9]+(?:-[a-z0-9]+)*)?$/);
        expect(slugify(text).length).toBeLessThanOrEqual(40);
        expect(slugify(slugify(text))).toBe(slugify(text));
      }),
    );
  });
});

describe("deriveBranch", () => {
  const id = sessionId("app-7");

  test.each<[string | null, string | null, string]>([
    ["42", null, "feat/42"],
    ["42", "Fix the login", "feat/42-fix-the-login"],
    ["42", "🚀", "feat/42"],
    ["INT-100", null, "feat/INT-100"],
    ["#42", null, "feat/42"],
    ["owner/repo#42", null, "feat/owner-repo-42"],
    ["fix the login", null, "feat/fix-the-login"],
    ["my_issue", null, "feat/my_issue"],
    ["v1.2.lock", null, "feat/v1-2-lock"],
    [null, null, "session/app-7"],
    [null, "Fix the login", "session/app-7"],
    ["../..", "Fix the login", "session/app-7"],
    ["🚀🎉", null, "session/app-7"],
    ["-rf", null, "feat/rf"],
    ["x".repeat(50), null, `feat/${"x".repeat(40)}`],
    [`${"x".repeat(39)}-y`, null, `feat/${"x".repeat(39)}`],
  ])("issue %j with title %j gives %s", (issueId, title, branch) => {
    expect(deriveBranch({ issueId, title, sessionId: id })).toBe(branch);
  });

  test("git accepts what hostile issues and titles become", () => {
    const branches = HOSTILE.flatMap((text) => [
      deriveBranch({ issueId: text, title: null, sessionId: id }),
      deriveBranch({ issueId: "42", title: text, sessionId: id }),
    ]);
    for (const branch of new Set(branches)) expect(() => checkWithGit(branch)).not.toThrow();
    expect(() => checkWithGit("a..b")).toThrow();
  });

  test("every branch is of one safe shape and of bounded length", () => {
    const aText = fc.option(anyText);
    fc.assert(
      fc.property(aText, aText, (issueId, title) => {
        const branch = deriveBranch({ issueId, title, sessionId: id });
        expect(branch).toMatch(/^(?:feat\/\w+(?:-\w+)*|session\/app-7)$/);
        expect(branch.length).toBeLessThanOrEqual(100);
      }),
    );
  });
});

describe("derivePrefix", () => {
  test.each([
    ["app", "app"],
    ["Web2", "web2"],
    ["a", "a"],
    ["a_b", "a_b"],
    ["AgentOrchestrator", "ao"],
    ["myCoolApp", "ca"],
    ["agent-orchestrator", "ao"],
    ["my_cool_app", "mca"],
    ["my.cool app", "mca"],
    ["backend", "bac"],
    ["Backend", "bac"],
    ["README", "rea"],
    ["repository.git", "rep"],
    [".git", "ao"],
    [".dotfiles", "dot"],
    ["-rf-all", "ra"],
    ["_x_", "x"],
    ["Übergang", "ube"],
    ["🚀🎉", "ao"],
    ["日本語", "ao"],
    ["", "ao"],
    ["..", "ao"],
    ["#(touch x)", "tx"],
    ["a-".repeat(30), "a".repeat(20)],
  ])("folder %j gives %s", (folder, prefix) => {
    expect(derivePrefix(folder)).toBe(prefix);
  });

  test("any folder gives the prefix of a valid session id", () => {
    fc.assert(
      fc.property(anyText, (folder) => {
        expect(parseSessionId(`${derivePrefix(folder)}-123456789`)).toBeDefined();
      }),
    );
  });
});

describe("deriveProjectId", () => {
  const free = () => false;

  test.each([
    ["app", "app"],
    ["My_App-2", "My_App-2"],
    ["my.app v2", "my-app-v2"],
    ["repository.git", "repository"],
    ["-rf", "rf"],
    ["_private_", "private"],
    ["Café", "Cafe"],
    ["🚀", "project"],
    ["", "project"],
    ["..", "project"],
    ["x".repeat(100), "x".repeat(63)],
    ["every-project", "every-project-2"],
  ])("folder %j gives %s", (folder, id) => {
    expect(deriveProjectId(folder, free)).toBe(id);
  });

  test("a taken id gets the next free number", () => {
    const taken = new Set<string>(["app", "app-2"]);
    expect(deriveProjectId("app", (id) => taken.has(id))).toBe("app-3");
  });

  test("a long taken id makes room for its number", () => {
    const taken = new Set<string>(["x".repeat(63)]);
    expect(deriveProjectId("x".repeat(63), (id) => taken.has(id))).toBe(`${"x".repeat(61)}-2`);
  });

  test("any folder gives a valid id that is free", () => {
    fc.assert(
      fc.property(anyText, fc.nat(3), (folder, takenCount) => {
        const asked: string[] = [];
        const id = deriveProjectId(folder, (candidate) => asked.push(candidate) <= takenCount);
        expect(parseProjectId(id)).toBe(id);
        expect(new Set(asked).size).toBe(takenCount + 1);
      }),
    );
  });
});
