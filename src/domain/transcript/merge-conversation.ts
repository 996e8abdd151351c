import type { ConversationEntry } from "./conversation-entry.ts";
import type { TranscriptMessage } from "./message.ts";

/** Something that was told of a conversation, and who told it. */
export interface ToldEntry {
  readonly conversationId: string;
  readonly entry: ConversationEntry;
  readonly source: "hook" | "agent_log";
  /** The turn that begins with it, when that is known. */
  readonly turnId: string | null;
}

export interface MergeFacts {
  /** What the transcript holds: all, or its last messages. */
  readonly held: readonly TranscriptMessage[];
  /** In any order, and as often as it was told. */
  readonly told: readonly ToldEntry[];
  /** The conversations of the session, oldest first. One that is not among them comes last. */
  readonly conversations: readonly string[];
}

/** Names one entry among all conversations of a session. */
type Place = Pick<ToldEntry, "conversationId"> & Pick<ConversationEntry, "position">;

/** Where a message stands in its conversation; `null` for one that no agent told. */
function placeOf({ conversationId, position }: TranscriptMessage): Place | null {
  return typeof conversationId === "string" && typeof position === "number"
    ? { conversationId, position }
    : null;
}

/**
 * The transcript after what was told: each entry once, in the order of the conversations and of the entries in
 * them, whatever the order in which it was learnt. What the transcript holds stays as it is, but that a message
 * gets the turn it belongs to once that is known; of an entry told twice, the hook's word comes first. An entry
 * whose text nobody told is left out: nothing is invented. The same list when it says nothing new.
 */
export function mergeConversation(facts: MergeFacts): readonly TranscriptMessage[] {
  const { held, told } = facts;
  const known = keysOf(held);
  const fresh = newEntries(told, known);
  const turns = turnsIn(told);
  if (fresh.length === 0 && turns.size === 0) return held;
  const merged = withTurns(inOrder(facts, fresh), turns);
  const isSame = merged.length === held.length && merged.every((message, index) => message === held[index]);
  return isSame ? held : merged;
}

/** What a transcript lacks of what was told. */
export interface Lacking {
  /** Those that it does not hold, each once. */
  readonly entries: readonly ToldEntry[];
  /** Messages that it holds are not told to belong to the turn they are in. */
  readonly isChanged: boolean;
}

/** Compares all that a transcript holds with what was told, a message at a time, in its order. */
export function comparison(told: readonly ToldEntry[]) {
  const fresh = new Map(newEntries(told, new Set()).map((one) => [keyOfTold(one), one]));
  const turns = turnsIn(told);
  const withTurn = turnTeller(turns);
  let isChanged = false;
  return {
    see(message: TranscriptMessage): void {
      const place = placeOf(message);
      if (place !== null) fresh.delete(keyOf(place));
      isChanged ||= turns.size > 0 && withTurn(message) !== message;
    },
    lacking: (): Lacking => ({ entries: [...fresh.values()], isChanged }),
  };
}

/** Of an entry told twice, the hook's word counts. */
function turnsIn(told: readonly ToldEntry[]): ReadonlyMap<string, string> {
  const last = told.toSorted((one, other) => Number(one.source === "hook") - Number(other.source === "hook"));
  return new Map(last.flatMap((one) => (one.turnId === null ? [] : [[keyOfTold(one), one.turnId]])));
}

/** Whether something between what is held and what was told is missing, or has no text. */
export function hasGap({ held, told }: Pick<MergeFacts, "held" | "told">): boolean {
  const known = keysOf(held);
  const missing = told.filter((one) => !known.has(keyOfTold(one)));
  const heard = new Set([...known, ...missing.map(keyOfTold)]);
  const isCovered = ({ conversationId, entry: { after } }: ToldEntry) =>
    after === null || heard.has(keyOf({ conversationId, position: after }));
  const texts = new Set(missing.flatMap((one) => (one.entry.text === null ? [] : [keyOfTold(one)])));
  return missing.some((one) => !isCovered(one) || !texts.has(keyOfTold(one)));
}

function keyOf({ conversationId, position }: Place): string {
  return `${conversationId} ${position}`;
}

function keysOf(held: readonly TranscriptMessage[]): ReadonlySet<string> {
  const places = held.map(placeOf).filter((place) => place !== null);
  return new Set(places.map(keyOf));
}

function keyOfTold({ conversationId, entry: { position } }: ToldEntry): string {
  return keyOf({ conversationId, position });
}

/** Those that are not known, each once, with a text. */
function newEntries(told: readonly ToldEntry[], known: ReadonlySet<string>): readonly ToldEntry[] {
  const fresh = new Map<string, ToldEntry>();
  for (const one of told) {
    const key = keyOfTold(one);
    if (known.has(key) || one.entry.text === null) continue;
    const other = fresh.get(key);
    if (other === undefined || (other.source !== "hook" && one.source === "hook")) fresh.set(key, one);
  }
  return [...fresh.values()];
}

/** Each held message with its rank; what no agent told stays behind what it followed. */
function inOrder(
  { held, conversations }: MergeFacts,
  fresh: readonly ToldEntry[],
): readonly TranscriptMessage[] {
  const rankOf = (id: string) => {
    const rank = conversations.indexOf(id);
    return rank === -1 ? conversations.length : rank;
  };
  const sorted = fresh.toSorted(
    (one, other) =>
      rankOf(one.conversationId) - rankOf(other.conversationId) || one.entry.position - other.entry.position,
  );
  const merged: TranscriptMessage[] = [];
  let next = 0;
  for (const message of held) {
    const place = placeOf(message);
    for (let one = sorted[next]; place !== null && one !== undefined; one = sorted[next]) {
      const ranks = rankOf(one.conversationId) - rankOf(place.conversationId);
      const isBefore = ranks < 0 || (ranks === 0 && one.entry.position < place.position);
      if (!isBefore) break;
      merged.push(messageOf(one));
      next += 1;
    }
    merged.push(message);
  }
  return [...merged, ...sorted.slice(next).map(messageOf)];
}

function messageOf({ conversationId, entry, source }: ToldEntry): TranscriptMessage {
  const { role, text, atMs, position, edge, detail } = entry;
  return {
    ...detail,
    ...(edge !== undefined && { edge }),
    ...{ role, text: text ?? "", turnId: null, source, atMs, conversationId, position },
  };
}

/** A message belongs to the turn of its conversation that began last and is not over. */
function withTurns(
  messages: readonly TranscriptMessage[],
  told: ReadonlyMap<string, string>,
): readonly TranscriptMessage[] {
  return messages.map(turnTeller(told));
}

/** Gives messages, in their order, the turns they belong to; one that has it stays the same. */
function turnTeller(told: ReadonlyMap<string, string>): (message: TranscriptMessage) => TranscriptMessage {
  const open = new Map<string, string | null>();
  return (message) => {
    const place = placeOf(message);
    if (place === null) return message;
    const turnId = turnOf(message, {
      running: open.get(place.conversationId),
      told: told.get(keyOf(place)),
    });
    open.set(place.conversationId, message["edge"] === "end" ? null : turnId);
    return turnId === message.turnId ? message : { ...message, turnId };
  };
}

/** @param turns `running` is `undefined` where the messages before are not at hand. */
function turnOf(
  message: TranscriptMessage,
  { running, told }: { readonly running: string | null | undefined; readonly told: string | undefined },
): string | null {
  const goesOn = message["edge"] !== "start" && running !== undefined;
  return goesOn ? running : (message.turnId ?? told ?? null);
}
