import { randomBytes } from "node:crypto";
import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** A conversation id as opencode gives it (1.18.33: twelve hexadecimal digits of time, fourteen random letters). */
const ID = /^ses_[0-9A-Za-z]{8,64}$/;

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
export function databasePath({ OPENCODE_DB: own, XDG_DATA_HOME: xdg, HOME: home }: Environment): string {
  const folder = join(
    xdg === undefined || xdg === "" ? join(home ?? "/", ".local", "share") : xdg,
    "opencode",
  );
  if (own === undefined || own === "") return join(folder, "opencode.db");
  return isAbsolute(own) ? own : join(folder, own);
}
