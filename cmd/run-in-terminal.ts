import { spawn } from "node:child_process";
import { AoError, errorMessage } from "../src/domain/errors.ts";
import type { Io } from "./io.ts";

/** Inside another tmux its own client would refuse to nest; asked for by name, the user wants it. */
function outsideOfTmux(env: Io["env"]): NodeJS.ProcessEnv {
  const { TMUX: _server, TMUX_PANE: _pane, ...rest } = env;
  return rest;
}

/**
 * Gives the terminal to a program until it ends.
 *
 * @throws AoError runtime_unavailable when it cannot be started.
 * @throws AoError internal when it ran and ended badly: then it may have done something.
 */
export function runInTerminal(argv: readonly string[], io: Pick<Io, "env">): Promise<void> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: outsideOfTmux(io.env), shell: false });
    child.once("error", (cause) => {
      reject(
        new AoError("runtime_unavailable", `${program} cannot be run: ${errorMessage(cause)}`, { cause }),
      );
    });
    child.once("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new AoError("internal", `${program} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}
