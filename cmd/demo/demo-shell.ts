import { execa } from "execa";
import { shellQuoted } from "../../src/domain/shell-quoted.ts";
import type { Paint } from "../color.ts";
import type { Io } from "../io.ts";

export interface DemoResult {
  readonly exitCode: number;
  readonly stdout: string;
}

/** Runs `ao` as a person would, in the demo's repository and data directory. */
export interface DemoShell {
  /** Shows the command line, runs it, and shows what it printed. */
  show(args: readonly string[], input?: string): Promise<DemoResult>;
  /** Runs it unseen. */
  run(args: readonly string[], input?: string): Promise<DemoResult>;
  /** One line of the narrator. */
  say(text: string): void;
}

interface DemoShellOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly io: Pick<Io, "stdout">;
  readonly paint: Paint;
}

/** A shell whose every command is the CLI that runs the demo itself. */
export function demoShell({ cwd, env, io, paint }: DemoShellOptions): DemoShell {
  const [script = ""] = process.argv.slice(1);

  async function run(args: readonly string[], input = ""): Promise<DemoResult & { readonly all: string }> {
    const options = { cwd, env, extendEnv: false, input, all: true, reject: false, timeout: 60_000 } as const;
    const result = await execa(process.execPath, [script, ...args], options);
    return { exitCode: result.exitCode ?? 1, stdout: result.stdout, all: result.all };
  }

  return {
    run,
    async show(args, input) {
      const result = await run(args, input);
      const lines = [`\n${paint("bold", `$ ao ${args.map(shellQuoted).join(" ")}`)}`];
      if (result.all !== "") lines.push(result.all);
      if (result.exitCode !== 0) lines.push(paint("dim", `(exit code ${result.exitCode})`));
      io.stdout.write(`${lines.join("\n")}\n`);
      return result;
    },
    say: (text) => void io.stdout.write(`\n${paint("cyan", text)}\n`),
  };
}
