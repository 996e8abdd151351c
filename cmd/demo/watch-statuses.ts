import { AoError } from "../../src/domain/errors.ts";
import type { Io } from "../io.ts";
import type { DemoShell } from "./demo-shell.ts";

export interface Watched {
  readonly id: string;
  readonly title: string | null;
  readonly status: string;
}

interface WatchOptions {
  readonly shell: DemoShell;
  readonly io: Pick<Io, "stdout">;
  readonly isDone: (sessions: readonly Watched[]) => boolean;
  readonly isInterrupted: () => boolean;
  readonly timeoutMs: number;
}

async function readSessions(shell: DemoShell): Promise<readonly Watched[]> {
  const { stdout, exitCode } = await shell.run(["list", "--json"]);
  if (exitCode !== 0) throw new AoError("internal", "the demo could not list its sessions");
  const { data } = JSON.parse(stdout) as { readonly data: readonly Watched[] };
  return [...data].sort((a, b) => a.id.localeCompare(b.id));
}

function line({ id, title, status }: Watched): string {
  return `  ${id.padEnd(8)} ${status.padEnd(12)} ${title ?? ""}`;
}

/** Draws the sessions: all of them over the last drawing on a terminal, else only those that changed. */
function statusPainter({ stdout }: Pick<Io, "stdout">) {
  let before: readonly Watched[] = [];
  let drawn = 0;
  return (sessions: readonly Watched[]) => {
    const changed = sessions.filter((s) => before.find((b) => b.id === s.id)?.status !== s.status);
    before = sessions;
    if (stdout.isTTY !== true) {
      for (const session of changed) stdout.write(`${line(session)}\n`);
    } else if (changed.length > 0) {
      const up = drawn > 0 ? `\u001b[${drawn}A\u001b[J` : "";
      stdout.write(`${up}${sessions.map((session) => `${line(session)}\n`).join("")}`);
      drawn = sessions.length;
    }
  };
}

/**
 * Shows the statuses as they change until `isDone`.
 *
 * @throws AoError internal when `timeoutMs` passed before that, interrupted when a signal came.
 */
export async function watchStatuses(options: WatchOptions): Promise<void> {
  const paint = statusPainter(options.io);
  const deadlineMs = Date.now() + options.timeoutMs;
  for (;;) {
    const sessions = await readSessions(options.shell);
    paint(sessions);
    if (options.isDone(sessions)) return;
    if (options.isInterrupted()) throw new AoError("interrupted", "the demo was interrupted");
    if (Date.now() > deadlineMs) throw new AoError("internal", "the demo's agents did not come to rest");
  }
}
