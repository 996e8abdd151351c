import { execa } from "execa";

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
  readonly color: boolean;
  readonly write: (text: string) => void;
}

const WORTH_QUOTING = /[^A-Za-z0-9_./:=@-]/;

function quoted(arg: string): string {
  return WORTH_QUOTING.test(arg) ? `"${arg}"` : arg;
}

/** A shell whose every command is the CLI that runs the demo itself. */
export function demoShell({ cwd, env, color, write }: DemoShellOptions): DemoShell {
  const paint = (code: string, text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const [script = ""] = process.argv.slice(1);

  async function run(args: readonly string[], input = ""): Promise<DemoResult & { readonly all: string }> {
    const result = await execa(process.execPath, [script, ...args], {
      cwd,
      env,
      extendEnv: false,
      input,
      all: true,
      reject: false,
      timeout: 60_000,
    });
    return { exitCode: result.exitCode ?? 1, stdout: result.stdout, all: result.all };
  }

  return {
    run,
    async show(args, input) {
      write(`\n${paint("1", `$ ao ${args.map(quoted).join(" ")}`)}\n`);
      const result = await run(args, input);
      if (result.all !== "") write(`${result.all}\n`);
      if (result.exitCode !== 0) write(`${paint("2", `(exit code ${result.exitCode})`)}\n`);
      return result;
    },
    say: (text) => write(`\n${paint("36", text)}\n`),
  };
}
