import { setTimeout as sleep } from "node:timers/promises";
import { assertNever } from "../../domain/assert-never.ts";
import type { ProcessTable } from "../../ports/process-table.ts";
import { listPanesArgs } from "./args.ts";
import { type PaneList, parsePaneList } from "./pane-list.ts";
import type { RunTmux, TmuxAnswer } from "./run-tmux.ts";

/** What every use of tmux needs. */
export interface TmuxDeps {
  readonly run: RunTmux;
  readonly processes: ProcessTable;
}

/** What one server answered when it was asked for its panes. */
export type ServerAnswer =
  | ({ readonly kind: "panes" } & PaneList)
  | { readonly kind: "no_server" }
  | {
      readonly kind: "failed";
      readonly cause: string;
      /** The server that was recorded lives, and does not answer; only where that was looked into. */
      readonly isDeaf?: true;
    };

const ASKS = 4;
const PAUSE_MS = 20;

/**
 * Asks one server for all its panes; one that goes away meanwhile is asked again, until it is gone. Never rejects.
 * `first` is a command that does something once and prints the panes then.
 */
export async function askServer(
  run: RunTmux,
  socketPath: string,
  first: readonly string[] = listPanesArgs(),
): Promise<ServerAnswer> {
  let answer = await run(socketPath, first);
  for (let asks = 1; asks < ASKS && isLost(answer); asks += 1) {
    if (asks > 1) await sleep(PAUSE_MS);
    answer = await run(socketPath, listPanesArgs());
  }
  return readAnswer(answer);
}

function isLost(answer: TmuxAnswer): boolean {
  return answer.kind === "refused" && answer.refusal === "server_lost";
}

function readAnswer(answer: TmuxAnswer): ServerAnswer {
  switch (answer.kind) {
    case "ok": {
      const list = parsePaneList(answer.stdout);
      return list === undefined
        ? { kind: "failed", cause: "tmux gave an answer that makes no sense" }
        : { kind: "panes", ...list };
    }
    case "refused":
      return answer.refusal === "no_server"
        ? { kind: "no_server" }
        : { kind: "failed", cause: answer.message };
    case "missing":
    case "failed":
      return { kind: "failed", cause: answer.cause };
    default:
      return assertNever(answer);
  }
}
