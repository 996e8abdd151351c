import { Readable } from "node:stream";
import type { Io } from "../../cmd/io.ts";
import { run } from "../../cmd/run.ts";
import { dataDirectory } from "../../src/adapters/data-directory/data-directory.ts";
import type { Ao } from "../../src/compose.ts";
import type { Config, SessionSettings } from "../../src/ports/config.ts";
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
}

const sourced = <Value>(value: Value) => ({ value, origin: "default" });

const SETTINGS: SessionSettings = {
  agent: sourced("memory"),
  model: sourced<string | null>(null),
  permissions: sourced("default"),
  rules: sourced<string | null>(null),
  defaultBranch: sourced<string | null>(null),
  symlinks: sourced<readonly string[]>([]),
  copy: sourced<readonly string[]>([]),
  postCreate: sourced<readonly string[]>([]),
  postCreateTimeoutMs: sourced(1000),
  env: sourced<Readonly<Record<string, string>>>({}),
};

function openedOn(world: World, warnings: readonly string[]): Ao {
  const config: Config = { path: null, warnings, projects: [], settingsFor: async () => SETTINGS };
  return {
    deps: world.deps,
    cwd: "/repo/app",
    dataDirectory: dataDirectory({ AO_DATA_DIR: "/nowhere" }, "/"),
    isNew: false,
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
  { env = {}, stdin = "", terminal = false, warnings = [] }: MemoryCliOptions = {},
): Promise<CliResult> {
  const written = { stdout: "", stderr: "" };
  const output = (name: keyof typeof written) => ({
    isTTY: terminal,
    writable: true,
    write(text: string) {
      written[name] += text;
    },
  });
  const io: Io = {
    env,
    cwd: "/repo/app",
    stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: terminal }),
    stdout: output("stdout"),
    stderr: output("stderr"),
    interruption: { signal: new AbortController().signal, hold: () => {} },
  };
  const exitCode = await run(argv, io, async () => openedOn(world, warnings));
  return { exitCode, ...written };
}
