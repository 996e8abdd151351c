import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  environmentText,
  launchFiles,
  launchScript,
  NO_WORKSPACE_MARKER,
  writeLaunchFiles,
} from "../../../../src/adapters/tmux/launch-files.ts";
import type { RuntimeSpec } from "../../../../src/ports/runtime.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aRuntimeSpec } from "../../../support/tmux-server.ts";

const SHELLS = [["/bin/sh"], ["/bin/bash", "--posix"]].filter(([path]) => existsSync(path ?? ""));

/** What a program sees of its environment after a shell has read the text. */
function readBy(shell: readonly string[], text: string): Record<string, string> {
  const [program = "", ...args] = shell;
  const input = `${text}\nexec '${process.execPath}' -e 'process.stdout.write(JSON.stringify(process.env))'\n`;
  const output = execFileSync(program, [...args, "-s"], { env: {}, input, encoding: "utf8" });
  return JSON.parse(output) as Record<string, string>;
}

const nasty = {
  QUOTES: `it's "quoted" \\' '' \\`,
  COMMANDS: "$(touch x) `touch y` ${HOME} $$ ; & | > <",
  MANY: "one\ntwo\n\n  three\n",
  EMPTY: "",
  DASH: "-n",
  WORLD: "Grüße 日本語 🙂",
  BRACKET: "\x1b[201~\t\r",
};

describe("environmentText", () => {
  test.each(SHELLS.map((shell) => [shell.join(" "), shell] as const))(
    "%s reads every value as it was",
    (_name, shell) => {
      expect(readBy(shell, environmentText(nasty))).toMatchObject(nasty);
    },
  );

  test("any values come through any number of quotes and lines", () => {
    const value = fc.string({
      unit: fc.constantFrom("'", '"', "\\", "\n", "$", "`", "a", " ", "é", "!", "#"),
    });
    fc.assert(
      fc.property(fc.array(value, { minLength: 20, maxLength: 20 }), (values) => {
        const env = Object.fromEntries(values.map((text, index) => [`V${index}`, text]));
        expect(readBy(["/bin/sh"], environmentText(env))).toMatchObject(env);
      }),
      { numRuns: 5 },
    );
  });

  test.each([
    ["a name with a dash", "MY-NAME"],
    ["an exported function", "BASH_FUNC_x%%"],
    ["a name that begins a command", "A=1;touch x;B"],
    ["an empty name", ""],
    ["the terminal's kind", "TERM"],
    ["another tmux", "TMUX"],
    ["another pane", "TMUX_PANE"],
    ["another working directory", "PWD"],
    ["the field separator of the shell", "IFS"],
    ["a constant of the shell", "UID"],
  ])("%s is left out", (_what, name) => {
    expect(environmentText({ [name]: "value", KEPT: "1" })).toBe("export KEPT=1\n");
  });
});

describe("launchScript", () => {
  /** Runs the script of a spec as the pane would, with some of the server's environment around. */
  function run(patch: Partial<RuntimeSpec>, shell: readonly string[] = ["/bin/sh"]) {
    const spec = aRuntimeSpec(patch);
    const { environmentPath } = launchFiles(spec);
    writeFileSync(environmentPath, environmentText(spec.env));
    const script = join(spec.launchDir, "script");
    writeFileSync(script, launchScript(spec, environmentPath));
    const [program = "", ...args] = shell;
    const env = { PATH: process.env["PATH"], HOME: "/server", LC_ALL: "C.UTF-8", TERM: "tmux-256color" };
    const { status, stdout } = spawnSync(program, [...args, script], { env, encoding: "utf8", cwd: "/" });
    return { spec, status, stdout, environmentLeft: existsSync(environmentPath) };
  }

  const show = [
    process.execPath,
    "-e",
    "process.stdout.write(JSON.stringify([process.argv.slice(1), process.cwd(), process.env]))",
    "--",
  ];

  test.each(SHELLS.map((shell) => [shell.join(" "), shell] as const))(
    "under %s the agent gets its arguments, its directory and its environment, and nothing of the server's",
    (_name, shell) => {
      const args = ["", "a b", "$(touch x)", "#(touch x)", "it's", "-rf", "*", "new\nline", ";"];
      const result = run({ argv: [...show, ...args], env: nasty }, shell);
      const [argv, cwd, env] = JSON.parse(result.stdout) as [string[], string, Record<string, string>];
      expect(argv).toEqual(args);
      expect(cwd).toBe(result.spec.workspacePath);
      expect(env).toMatchObject({ ...nasty, TERM: "tmux-256color" });
      expect(env).not.toHaveProperty("HOME");
      expect(env).not.toHaveProperty("LC_ALL");
      expect(env).not.toHaveProperty("ao_environment");
      expect(result.environmentLeft).toBe(false);
    },
  );

  test.each([
    ["with space"],
    ["it's"],
    ["#(touch x)"],
    ["$(touch x)"],
    ["-rf"],
    ["ünï 日本"],
    ["a;b;"],
    ["new\nline"],
  ])("a workspace called %j is entered", (name) => {
    const workspacePath = join(tempDir(), name);
    mkdirSync(workspacePath);
    const result = run({ workspacePath, argv: ["/bin/sh", "-c", 'printf "%s" "$PWD"'] });
    expect(result).toMatchObject({ status: 0, stdout: workspacePath });
  });

  test("a workspace that is not there ends it with 97, before any agent", () => {
    const result = run({ workspacePath: "/nonexistent/x", argv: ["/bin/sh", "-c", "echo started"] });
    expect(result).toMatchObject({ status: 97, stdout: `${NO_WORKSPACE_MARKER}\n` });
  });

  test("a workspace that became a link to elsewhere ends it with 97", () => {
    const link = join(tempDir(), "link");
    symlinkSync(tempDir(), link);
    expect(run({ workspacePath: link })).toMatchObject({ status: 97 });
  });

  test("a program that is not there ends it with 127 and its name", () => {
    const result = run({ argv: ["/no/such/agent"] });
    expect(result).toMatchObject({ status: 127, stdout: "ao: /no/such/agent cannot be run\n" });
  });
});

describe("writeLaunchFiles", () => {
  test("the files are private, whatever the umask, and replace older ones", async () => {
    const spec = aRuntimeSpec({ env: { SECRET: "s3cret" } });
    const { environmentPath, scriptPath } = launchFiles(spec);
    const victim = join(tempDir(), "victim");
    writeFileSync(victim, "mine");
    symlinkSync(victim, environmentPath);
    const before = process.umask(0);
    await writeLaunchFiles(spec).finally(() => process.umask(before));
    expect(statSync(environmentPath).mode & 0o777).toBe(0o600);
    expect(statSync(scriptPath).mode & 0o777).toBe(0o700);
    expect(readFileSync(environmentPath, "utf8")).toContain("export SECRET=s3cret");
    expect(readFileSync(environmentPath, "utf8")).toContain(`export AO_LAUNCH_ID=${spec.launchId}`);
    expect(readFileSync(scriptPath, "utf8")).not.toContain("s3cret");
    expect(readFileSync(victim, "utf8")).toBe("mine");
  });

  test("a folder that cannot be written is one clear error", async () => {
    const file = join(tempDir(), "file");
    writeFileSync(file, "");
    await expect(writeLaunchFiles(aRuntimeSpec({ launchDir: join(file, "x") }))).rejects.toMatchObject({
      code: "data_dir_unusable",
    });
  });
});
