import { randomBytes } from "node:crypto";
import { isAbsolute, join, resolve } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** What may name a conversation: opencode's own ids, and whatever else is no option and no path. */
const ID = /^[0-9A-Za-z][0-9A-Za-z_-]{7,127}$/;

export function isConversationId(text: string): boolean {
  return ID.test(text);
}

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PER_MS = 4096n;

/** An id as opencode would give it at that time, Unix milliseconds: newer ones come first in its lists. */
export function conversationIdAt(nowMs: number): string {
  const time = BigInt.asUintN(48, ~(BigInt(nowMs) * PER_MS))
    .toString(16)
    .padStart(12, "0");
  const end = [...randomBytes(14)].map((byte) => LETTERS[byte % LETTERS.length]);
  return `ses_${time}${end.join("")}`;
}

/** The database of all that opencode keeps of a user (1.18.33: `OPENCODE_DB`, else below `XDG_DATA_HOME`). */
export function databasePath(
  { OPENCODE_DB: own, XDG_DATA_HOME: xdg, HOME: home }: Environment,
  cwd = "/",
): string {
  const data = xdg === undefined || xdg === "" ? join(home ?? "/", ".local", "share") : xdg;
  const folder = resolve(cwd, data, "opencode");
  if (own === undefined || own === "") return join(folder, "opencode.db");
  return isAbsolute(own) ? own : join(folder, own);
}
