import { Readable } from "node:stream";
import type { Io } from "../../cmd/io.ts";
import { run } from "../../cmd/run.ts";
import { dataDirectory } from "../../src/adapters/data-directory/data-directory.ts";
import { memoryConfig } from "../../src/adapters/memory/config.ts";
import type { Ao } from "../../src/compose.ts";
import type { World } from "./world.ts";

export interface CliResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface MemoryCliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** stdin, stdout and stderr are a terminal. */
  readonly terminal?: boolean;
  readonly warnings?: readonly string[];
  /** Agents that the configuration names, by the path of a project. */
  readonly agents?: Readonly<Record<string, string>>;
  /** A signal arrives as soon as the command holds signals back. */
  readonly interrupted?: boolean;
  /** Nothing that is written to standard output arrives. */
  readonly fullStdout?: boolean;
  /** The reader of standard output: it takes what was written by then when it resolves; at once where not given. */
  readonly reader?: () => Promise<void>;
  /** There is no data directory yet. */
  readonly isNew?: boolean;
}

type Configured = Required<Pick<MemoryCliOptions, "warnings" | "agents">>;

function openedOn(world: World, configured: Configured, isNew: boolean): Ao {
  const config = memoryConfig({ ...configured, defaultAgent: "memory" });
  return {
    deps: world.deps,
    cwd: "/repo/app",
    dataDirectory: dataDirectory({ AO_DATA_DIR: "/nowhere" }, "/"),
    isNew,
    isSnapshot: false,
    socketPath: "/nowhere/tmux",
    configPath: () => null,
    config: async () => config,
    close: () => {},
  };
}

/** Runs one command line in this process, on a world in memory. */
export async function memoryCli(
  world: World,
  argv: readonly string[],
  {
    env = {},
    stdin = "",
    terminal = false,
    warnings = [],
    agents = {},
    interrupted = false,
    isNew = false,
    fullStdout = false,
    reader = async () => undefined,
  }: MemoryCliOptions = {},
): Promise<CliResult> {
  const written = { stdout: "", stderr: "" };
  let lost = "";
  const output = (name: keyof typeof written) => ({
    isTTY: terminal,
    writable: true,
    drained: reader,
    failure: async () => (lost === "" || name === "stderr" ? undefined : new Error("ENOSPC: full, write")),
    write(text: string) {
      if (fullStdout && name === "stdout") lost += text;
      else written[name] += text;
    },
  });
  const controller = new AbortController();
  const io: Io = {
    env,
    cwd: "/repo/app",
    stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: terminal }),
    stdout: output("stdout"),
    stderr: output("stderr"),
    interruption: { signal: controller.signal, hold: () => interrupted && controller.abort() },
  };
  const exitCode = await run(argv, io, async ({ access }) =>
    openedOn(world, { warnings, agents }, isNew && access === "existing"),
  );
  return { exitCode, ...written };
}
