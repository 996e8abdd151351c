import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../../src/adapters/config/load-config.ts";
import type { Config } from "../../../../src/ports/config.ts";
import { aProject } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";

/** Nothing is named, searched from nowhere, by a user who owns the files. */
const lookup = {
  ...{ explicitPath: undefined, recordedPath: undefined, env: {}, home: undefined },
  uid: process.getuid?.(),
  repositoryOf: async () => undefined,
};

interface Load {
  readonly text: string;
  readonly name?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly repository?: string | undefined;
}

async function load({
  text,
  name = "ao.yaml",
  env = {},
  repository,
}: Load): Promise<{ config: Config; path: string }> {
  const directory = tempDir();
  const path = join(directory, name);
  writeFileSync(path, text);
  const repositoryOf = async () => repository;
  const config = await loadConfig({ ...lookup, env, cwd: directory, home: "/home/me", repositoryOf });
  return { config, path };
}

const app = aProject({ id: "app", repositoryPath: "/src/app" });

describe("agent selection", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["the project's word for the kind comes first", "worker: { agent: a }\n    agent: b", "a"],
    ["then the project's word", "agent: b", "b"],
    ["a word for another kind says nothing", "orchestrator: { agent: o }\n    agent: b", "b"],
  ];
  test.each(rows)("%s", async (_title, block, agent) => {
    const text = `projects:\n  app:\n    path: /src/app\n    ${block}\ndefaults: { agent: d, worker: { agent: c } }\n`;
    const { config } = await load({ text });
    expect((await config.settingsFor(app, "worker")).agent.value).toBe(agent);
  });

  test("the defaults' word for the kind comes before their general one", async () => {
    const { config, path } = await load({ text: "defaults:\n  agent: d\n  worker:\n    agent: c\n" });
    expect((await config.settingsFor(app, "worker")).agent).toEqual({ value: "c", origin: `${path}:4` });
    expect((await config.settingsFor(app, "orchestrator")).agent).toEqual({
      value: "d",
      origin: `${path}:2`,
    });
  });

  test("names every agent that is asked for, with its key and line", async () => {
    const shared = await load({
      text: "defaults:\n  agent: a\n  worker: { agent: b }\nprojects:\n  app:\n    path: .\n    agent: c\n    orchestrator:\n      agent: d\n",
    });
    expect(shared.config.agents).toEqual([
      { name: "a", key: "defaults.agent", line: 2 },
      { name: "b", key: "defaults.worker.agent", line: 3 },
      { name: "c", key: "projects.app.agent", line: 7 },
      { name: "d", key: "projects.app.orchestrator.agent", line: 9 },
    ]);
    const local = await load({ text: "worker:\n  agent: a\n" });
    expect(local.config.agents).toEqual([{ name: "a", key: "worker.agent", line: 2 }]);
  });

  test("with no file it is the embedded agent", async () => {
    const directory = tempDir();
    const config = await loadConfig({ ...lookup, cwd: directory });
    expect((await config.settingsFor(null, "worker")).agent).toEqual({
      value: "embedded",
      origin: "default",
    });
    expect(config.path).toBeNull();
  });
});

describe("a file without projects", () => {
  const text = "agent: shell\nenv: { PORT: 3000, DEBUG: true }\npostCreateTimeout: 90s\n";

  test("is the settings of the repository it lies in", async () => {
    const { config } = await load({ text, repository: "/src/app" });
    const settings = await config.settingsFor(app, "worker");
    expect(settings.agent.value).toBe("shell");
    expect(settings.env.value).toEqual({ PORT: "3000", DEBUG: "true" });
    expect(settings.postCreateTimeoutMs.value).toBe(90_000);
  });

  test("says nothing about another repository", async () => {
    const { config } = await load({ text, repository: "/src/other" });
    expect((await config.settingsFor(app, "worker")).agent.value).toBe("embedded");
  });

  test("applies everywhere when it lies in none", async () => {
    const { config } = await load({ text, repository: undefined });
    expect((await config.settingsFor(app, "worker")).agent.value).toBe("shell");
  });

  const named = "name: The Shop\nsessionPrefix: sh\nrepo: me/shop\n";

  test("names the project of the repository it lies in", async () => {
    const { config, path } = await load({ text: named, repository: "/src/app" });
    expect(config.projects).toEqual([
      { id: null, name: "The Shop", path: "/src/app", prefix: "sh", defaultBranch: null },
    ]);
    expect(config.warnings).toEqual([`${path}: these keys have no effect yet: repo`]);
  });

  test("warns that it names nothing when it lies in no repository", async () => {
    const { config, path } = await load({ text: named, repository: undefined });
    expect(config.projects).toEqual([]);
    expect(config.warnings).toContain(
      `${path}: these keys have no effect outside of a repository: name, sessionPrefix`,
    );
  });

  test("asks for no repository when it names nothing", async () => {
    const repositoryOf = () => Promise.reject(new Error("asked"));
    const directory = tempDir();
    writeFileSync(join(directory, "ao.yaml"), text);
    const config = await loadConfig({ ...lookup, cwd: directory, repositoryOf });
    expect(config.projects).toEqual([]);
  });
});

describe("values", () => {
  const permissionRows = [
    ["permissionless", "bypass"],
    ["skip", "bypass"],
    ["auto-edit", "accept-edits"],
    ["suggest", "default"],
    ["accept-edits", "accept-edits"],
  ] as const;
  test.each(permissionRows)("permissions %s mean %s", async (word, mode) => {
    const { config } = await load({ text: `agentConfig: { permissions: ${word} }\n` });
    expect((await config.settingsFor(app, "worker")).permissions.value).toBe(mode);
  });

  test("project paths start at the file or at the home folder", async () => {
    const { config, path } = await load({ text: "projects:\n  a: { path: ./x }\n  b: { path: ~/y }\n" });
    expect(config.projects.map((project) => project.path)).toEqual([join(path, "..", "x"), "/home/me/y"]);
  });

  test("rules are the text and the file, in this order", async () => {
    const repositoryPath = tempDir();
    writeFileSync(join(repositoryPath, "RULES.md"), "from the file\n");
    const { config } = await load({ text: "agentRules: be kind\nagentRulesFile: RULES.md\n" });
    const settings = await config.settingsFor({ ...app, repositoryPath }, "worker");
    expect(settings.rules.value).toBe("be kind\n\nfrom the file");
  });

  test("a rules file that is missing is named with its line", async () => {
    const { config, path } = await load({ text: "agentRules: x\nagentRulesFile: no.md\n" });
    await expect(config.settingsFor(app, "worker")).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(`${path}:2`),
    });
  });

  test("an empty key is an absent key", async () => {
    const { config } = await load({ text: "agent:\nenv:\nsymlinks:\n" });
    expect((await config.settingsFor(app, "worker")).symlinks).toEqual({ value: [], origin: "default" });
  });
});

describe("warnings", () => {
  test("an unknown key is named with its line and the key that was meant", async () => {
    const { config, path } = await load({
      text: "projects:\n  app:\n    path: /src/app\n    agnet: shell\n",
    });
    expect(config.warnings).toEqual([`${path}:4: unknown key projects.app.agnet, did you mean agent?`]);
  });

  test("keys of the earlier programs without effect are told once, together", async () => {
    const text = "port: 3000\nreactions: { ci-failed: { auto: true } }\ndefaults: { notifiers: [desktop] }\n";
    const { config, path } = await load({ text, name: "agent-orchestrator.yaml" });
    expect(config.warnings).toEqual([
      `${path}: these keys have no effect yet: port, reactions, defaults.notifiers`,
    ]);
  });

  test("what is done anyway needs none", async () => {
    const { config } = await load({ text: "defaults: { runtime: tmux, workspace: worktree }\n" });
    expect(config.warnings).toEqual([]);
  });

  test("a variable of ao's own is told to be ignored", async () => {
    const { config, path } = await load({ text: "env:\n  AO_SESSION_ID: x\n" });
    expect(config.warnings).toEqual([`${path}:2: AO_SESSION_ID is set by ao itself; this one is ignored`]);
  });
});

describe("what is said of ignored files", () => {
  const block = "ignored: { reproducible: ['.cache/'], work: [dist/] }\n";
  const rule = { reproducible: [".cache/"], work: ["dist/"] };
  const nothing = { reproducible: [], work: [] };

  test("is a setting of its project, with its line, and of no other", async () => {
    const { config, path } = await load({ text: `projects:\n  app:\n    path: /src/app\n    ${block}` });
    expect(await config.ignoredFor(app)).toEqual(rule);
    expect((await config.settingsFor(app, "worker")).ignored).toEqual({ value: rule, origin: `${path}:4` });
    expect(await config.ignoredFor(aProject({ id: "web", repositoryPath: "/src/web" }))).toEqual(nothing);
  });

  test("in a file without projects is a setting of the repository it lies in", async () => {
    const { config } = await load({ text: block, repository: "/src/app" });
    expect(await config.ignoredFor(app)).toEqual(rule);
    expect(await config.ignoredFor(aProject({ repositoryPath: "/src/web" }))).toEqual(nothing);
  });

  test("may be one half of it", async () => {
    const { config } = await load({ text: "ignored: { work: ['*.log'] }\n" });
    expect(await config.ignoredFor(app)).toEqual({ reproducible: [], work: ["*.log"] });
  });

  test("is there although a rules file is missing", async () => {
    const { config } = await load({ text: `${block}agentRulesFile: nosuch.md\n` });
    expect(await config.ignoredFor(app)).toEqual(rule);
  });
});

describe("bad values", () => {
  const rows: readonly (readonly [string, string, number, string])[] = [
    [
      "a word that is none of the allowed",
      "agentConfig:\n  permissions: yolo\n",
      2,
      "must be one of default, accept-edits, bypass",
    ],
    ["a number for text", "defaults:\n  agent: 7\n", 2, "defaults.agent must be text, is number 7"],
    ["text for a list", "symlinks: .env\n", 1, "symlinks must be a list of paths"],
    ["a path that leads out", "copy:\n  - .env\n  - ../secret\n", 3, "must be a path inside the repository"],
    ["text for patterns", "ignored:\n  work: '*.log'\n", 2, "ignored.work must be a list of patterns"],
    ["an empty pattern", "ignored: { work: [''] }\n", 1, "must not be empty"],
    ["a list of ignored files", "ignored: [a]\n", 1, "ignored must be a mapping, is a list"],
    ["a duration that is none", "postCreateTimeout: soon\n", 1, "must be a duration"],
    [
      "a prefix with a dot",
      "projects:\n  app:\n    path: /a\n    sessionPrefix: a.b\n",
      4,
      "sessionPrefix must be",
    ],
    [
      "a project without a path",
      "projects:\n  app:\n    agent: shell\n",
      2,
      "projects.app.path must be text and is missing",
    ],
    ["a project id with a slash", "projects:\n  a/b: { path: /a }\n", 2, "must be a project id"],
    ["a variable name with a space", "env:\n  'A B': x\n", 2, "must be named like a shell variable"],
    ["a file that is a list", "- a\n", 1, "the file must be a mapping, is a list"],
    ["no YAML", "a: [1\nb: 2\n", 2, "is not valid YAML"],
    ["a key given twice", "agent: a\nagent: b\n", 2, "is not valid YAML"],
  ];
  test.each(rows)("%s is told with file and line", async (_title, text, line, message) => {
    const directory = tempDir();
    const path = join(directory, "ao.yaml");
    writeFileSync(path, text);
    const options = { ...lookup, explicitPath: "ao.yaml", cwd: directory };
    await expect(loadConfig(options)).rejects.toThrowError(
      expect.objectContaining({
        code: "config_invalid",
        message: expect.stringContaining(`${path}:${line}`),
      }),
    );
    await expect(loadConfig(options)).rejects.toThrowError(message);
  });

  test("all of them are in the details", async () => {
    const text = "defaults:\n  agent: 7\nsymlinks: x\n";
    await expect(load({ text })).rejects.toThrowError(
      expect.objectContaining({
        message: expect.stringContaining("(and 1 more)"),
        details: expect.objectContaining({
          problems: [
            { line: 2, key: "defaults.agent", message: "must be text, is number 7" },
            { line: 3, key: "symlinks", message: 'must be a list of paths, is string "x"' },
          ],
        }),
      }),
    );
  });

  test("two projects with one prefix are refused with a way out", async () => {
    const text = "projects:\n  one: { path: /a/web }\n  two: { path: /b/web }\n";
    await expect(load({ text })).rejects.toThrowError(
      expect.objectContaining({
        code: "config_invalid",
        message: expect.stringContaining("projects one and two share the session prefix web"),
        hint: expect.stringContaining("sessionPrefix"),
      }),
    );
  });

  test("an alias bomb is refused", async () => {
    const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (const [name, of] of ["ba", "cb", "dc", "ed", "fe"].map((pair) => [...pair])) {
      bomb.push(`${name}: &${name} [${Array(9).fill(`*${of}`).join(",")}]`);
    }
    await expect(load({ text: bomb.join("\n") })).rejects.toThrowError(
      expect.objectContaining({ code: "config_invalid" }),
    );
  });
});

describe("look-up", () => {
  async function lookUp(
    explicitPath: string | undefined,
    env: Readonly<Record<string, string>>,
    cwd: string,
  ) {
    return (await loadConfig({ ...lookup, explicitPath, env, cwd, home: join(cwd, "home") })).path;
  }

  function tree(): { root: string; below: string } {
    const root = tempDir();
    const below = join(root, "a", "b");
    mkdirSync(join(root, "xdg", "ao"), { recursive: true });
    mkdirSync(below, { recursive: true });
    for (const name of ["flag.yaml", "env.yaml", "xdg/ao/config.yaml"])
      writeFileSync(join(root, name), "agent: x\n");
    return { root, below };
  }

  test("goes by flag, variable, upward search and the user's file, in this order", async () => {
    const { root, below } = tree();
    const env = { XDG_CONFIG_HOME: join(root, "xdg"), AO_CONFIG_PATH: join(root, "env.yaml") };
    expect(await lookUp("../../flag.yaml", env, below)).toBe(join(root, "flag.yaml"));
    expect(await lookUp(undefined, env, below)).toBe(join(root, "env.yaml"));
    const { AO_CONFIG_PATH: _, ...without } = env;
    expect(await lookUp(undefined, without, below)).toBe(join(root, "xdg/ao/config.yaml"));
    writeFileSync(join(root, "a", "agent-orchestrator.yml"), "agent: x\n");
    expect(await lookUp(undefined, without, below)).toBe(join(root, "a", "agent-orchestrator.yml"));
    writeFileSync(join(root, "a", "ao.yaml"), "agent: x\n");
    expect(await lookUp(undefined, without, below)).toBe(join(root, "a", "ao.yaml"));
  });

  test.each([
    ["--config", "no.yaml", {}],
    ["AO_CONFIG_PATH", undefined, { AO_CONFIG_PATH: "no.yaml" }],
  ] as const)("a file that %s names must be there", async (by, explicitPath, env) => {
    const { below } = tree();
    await expect(lookUp(explicitPath, env, below)).rejects.toThrowError(
      expect.objectContaining({ code: "config_invalid", message: expect.stringContaining(`from ${by}`) }),
    );
  });

  test("prefers the file a session was made with, while it is there", async () => {
    const { root, below } = tree();
    const recordedPath = join(root, "flag.yaml");
    writeFileSync(join(below, "ao.yaml"), "agent: x\n");
    expect((await loadConfig({ ...lookup, cwd: below, recordedPath })).path).toBe(recordedPath);
    expect((await loadConfig({ ...lookup, cwd: below, recordedPath: "/nowhere" })).path).toBe(
      join(below, "ao.yaml"),
    );
  });

  test("refuses a found file of another user, whose commands it could be; a named one it takes", async () => {
    const { below } = tree();
    const path = join(below, "ao.yaml");
    writeFileSync(path, "agent: x\n");
    const owner = process.getuid?.() || 4242;
    chownSync(path, owner, process.getgid?.() ?? 0);
    const asOther = { ...lookup, cwd: below, uid: owner + 1 };
    await expect(loadConfig(asOther)).rejects.toThrowError("belongs to another user");
    expect((await loadConfig({ ...asOther, explicitPath: path })).path).toBe(path);
  });

  test("a folder of that name is passed over", async () => {
    const { below } = tree();
    mkdirSync(join(below, "ao.yaml"));
    chmodSync(join(below, "ao.yaml"), 0o700);
    expect(await lookUp(undefined, {}, below)).toBeNull();
  });
});
