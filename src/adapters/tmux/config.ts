import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { draftName } from "../../domain/draft-name.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";

/** How the line begins that tmux writes under the last words of an agent, for whoever is attached. */
export const ENDING_LINE = "ao: the agent has ended";

/**
 * A format of that line, which tells how it ended; of a program that a person ran in the session it says the
 * same. tmux 3.3 and later draw it, once they know the ending, on the lowest line of the screen; an older one
 * has a line of its own.
 */
function endingFormat(): string {
  const signal = "#{?pane_dead_signal, by signal #{pane_dead_signal},";
  const status = "#{?#{!=:#{pane_dead_status},}, with status #{pane_dead_status},}}";
  const ended = ENDING_LINE.replace("the agent", "#{?#{==:#{@ao_pane},agent},the agent,this program}");
  return `${ended}${signal}${status}; Ctrl-b d leaves`;
}

/**
 * The whole configuration of a private server; `-f` keeps tmux from reading any other (tmux(1), checked
 * with 3.3a). `-q` lets an older tmux pass over an option it does not know.
 */
const TMUX_CONFIG = `# Written by ao for its own tmux server; changes are overwritten.
set-option -s exit-empty on
set-option -s exit-unattached off
set-option -s escape-time 10
set-option -g destroy-unattached off
set-option -g detach-on-destroy on
set-option -g update-environment ""
set-option -g default-terminal tmux-256color
set-option -g default-size 200x50
set-option -g history-limit 50000
set-option -g set-titles off
set-option -g visual-activity off
set-option -g visual-bell off
set-option -g visual-silence off
set-option -g bell-action none
set-option -g status-left "[#{session_name}] "
set-option -g status-left-length 60
set-option -g status-right ""
set-option -gw window-size latest
set-option -gw automatic-rename off
set-option -gw allow-rename off
set-option -gw monitor-bell off
set-option -gw remain-on-exit on
set-option -gwq remain-on-exit-format "${endingFormat()}"
set-option -gw window-status-format ""
set-option -gw window-status-current-format ""
`;

/**
 * Puts the configuration beside the socket, mode 0600, unless it stands there already. Returns its path.
 *
 * @throws AoError runtime_unavailable when it cannot be written.
 */
export async function writeConfig(socketPath: string): Promise<string> {
  const path = join(dirname(socketPath), "tmux.conf");
  const present = await readFile(path, "utf8").catch(() => undefined);
  if (present === TMUX_CONFIG) return path;
  const draft = draftName(path, randomUUID());
  try {
    await writeFile(draft, TMUX_CONFIG, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new AoError("runtime_unavailable", `${path} cannot be written: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  return path;
}
