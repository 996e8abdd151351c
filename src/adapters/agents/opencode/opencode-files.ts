import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** A conversation id as opencode gives it (1.18.33: twelve hexadecimal digits of time, fourteen random letters). */
const ID = /^ses_[0-9A-Za-z]{8,64}$/;

export function isConversationId(text: string): boolean {
  return ID.test(text);
}

/** The database of all that opencode keeps of a user (1.18.33: `OPENCODE_DB`, else below `XDG_DATA_HOME`). */
export function databasePath({ OPENCODE_DB: own, XDG_DATA_HOME: xdg, HOME: home }: Environment): string {
  const folder = join(
    xdg === undefined || xdg === "" ? join(home ?? "/", ".local", "share") : xdg,
    "opencode",
  );
  if (own === undefined || own === "") return join(folder, "opencode.db");
  return isAbsolute(own) ? own : join(folder, own);
}
