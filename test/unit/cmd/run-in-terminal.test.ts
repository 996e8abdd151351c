import { expect, test } from "vitest";
import { runInTerminal } from "../../../cmd/run-in-terminal.ts";
import { EXIT_CODES, isAoError } from "../../../src/domain/errors.ts";

const io = { env: { PATH: "/usr/bin:/bin" } };

test.each([
  ["is not there", ["/no/such/program"], 5],
  ["ends with a status", ["/bin/sh", "-c", "exit 3"], 1],
  ["ends by a signal", ["/bin/sh", "-c", "kill -TERM $$"], 1],
])(
  "a program that %s is told by exit code: nothing was done, or it may have been",
  async (_how, argv, exitCode) => {
    const error: unknown = await runInTerminal(argv, io).catch((thrown: unknown) => thrown);
    expect(isAoError(error) && EXIT_CODES[error.code]).toBe(exitCode);
  },
);
