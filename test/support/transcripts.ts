import { createHash } from "node:crypto";
import { memoryLocks } from "../../src/adapters/memory/locks.ts";
import { canonicalJson } from "../../src/domain/canonical-json.ts";
import { digestsAfter, EMPTY_DIGEST } from "../../src/domain/transcript/digest.ts";
import type { TranscriptBase } from "../../src/domain/transcript/ledger.ts";
import type { TranscriptMessage } from "../../src/domain/transcript/message.ts";
import { type TranscriptRef, transcriptPaths } from "../../src/domain/transcript/names.ts";
import { transcriptStore } from "../../src/lifecycle/transcript/transcript-store.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Locks } from "../../src/ports/locks.ts";
import type { TranscriptFiles } from "../../src/ports/transcript-files.ts";
import type { SaveResult } from "../../src/ports/transcript-results.ts";
import type { TranscriptStore } from "../../src/ports/transcript-store.ts";
import { T0_MS } from "./builders.ts";

export const REF: TranscriptRef = { folder: "/data/transcripts/shop", name: "shop-1" };
export const PATHS = transcriptPaths(REF);

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

export function aMessage(over: Partial<TranscriptMessage> & { readonly text: string }): TranscriptMessage {
  return { role: "user", turnId: null, source: "hook", atMs: T0_MS, ...over } as TranscriptMessage;
}

/** What is asked and answered in a turn. */
export function aTurn(turn: number | string): readonly TranscriptMessage[] {
  const turnId = `turn-${turn}`;
  return [
    aMessage({ text: `ask ${turn}`, turnId }),
    aMessage({ role: "assistant", text: `answer ${turn}`, turnId, source: "agent_log" }),
  ];
}

/** All of several turns. */
export function turns(...numbers: readonly (number | string)[]): readonly TranscriptMessage[] {
  return numbers.flatMap(aTurn);
}

export interface StoreOptions {
  readonly writer?: string;
  readonly locks?: Locks;
  readonly sha256?: (text: string) => string;
  readonly lockWaitMs?: number;
  readonly clock?: Pick<Clock, "nowMs">;
}

export function storeOn(files: TranscriptFiles, options: StoreOptions = {}): TranscriptStore {
  const clock = { nowMs: () => T0_MS };
  return transcriptStore({ files, clock, locks: memoryLocks(), sha256, writer: "writer-a", ...options });
}

/** A writer that holds a whole conversation in memory, as an agent does, and what it last saved of it. */
export interface LiveSession {
  messages(): readonly TranscriptMessage[];
  base(): TranscriptBase | null;
  add(...messages: readonly TranscriptMessage[]): void;
  /** Saves what was added. */
  save(): Promise<SaveResult>;
  /** Replaces what it holds, and saves that. */
  rewrite(messages: readonly TranscriptMessage[]): Promise<SaveResult>;
  compact(messages?: readonly TranscriptMessage[]): Promise<SaveResult>;
  /** The same writer, with another way to the files. */
  movedTo(store: TranscriptStore): LiveSession;
}

export function commonCount(one: readonly TranscriptMessage[], other: readonly TranscriptMessage[]): number {
  const at = one.findIndex((message, index) => {
    const twin = other[index];
    return twin === undefined || canonicalJson(message) !== canonicalJson(twin);
  });
  return at === -1 ? one.length : at;
}

interface Held {
  readonly base: TranscriptBase | null;
  /** The messages of the base. */
  readonly saved: readonly TranscriptMessage[];
  readonly messages: readonly TranscriptMessage[];
}

function sessionOf(store: TranscriptStore, ref: TranscriptRef, held: Held): LiveSession {
  let { base, saved, messages } = held;

  function acknowledged(result: SaveResult): SaveResult {
    if (result.kind === "saved" || result.kind === "unchanged") {
      base = result.head;
      saved = messages;
    }
    return result;
  }

  function rewriteOf(next: readonly TranscriptMessage[]) {
    messages = next;
    const count = commonCount(saved, next);
    const digest = digestsAfter(sha256, EMPTY_DIGEST, next.slice(0, count).map(canonicalJson)).at(-1);
    return { base, keep: { count, digest: digest ?? "" }, messages: next.slice(count), reason: "rewind" };
  }

  return {
    messages: () => messages,
    base: () => base,
    add(...more) {
      messages = [...messages, ...more];
    },
    save: async () =>
      acknowledged(await store.saveSnapshot(ref, { base, messages: messages.slice(saved.length) })),
    rewrite: async (next) => acknowledged(await store.saveRewrite(ref, rewriteOf(next))),
    compact: async (next = messages) => acknowledged(await store.saveRewriteCompact(ref, rewriteOf(next))),
    movedTo: (other) => sessionOf(other, ref, { base, saved, messages }),
  };
}

/** @param from what it has loaded; nothing when absent. */
export function liveSession(
  store: TranscriptStore,
  from?: { readonly head: TranscriptBase; readonly messages: readonly TranscriptMessage[] },
  ref = REF,
): LiveSession {
  const messages = from?.messages ?? [];
  return sessionOf(store, ref, { base: from?.head ?? null, saved: messages, messages });
}

/** A writer that has loaded what is there. */
export async function resumed(store: TranscriptStore, ref = REF): Promise<LiveSession> {
  const loaded = await store.load(ref);
  if (loaded.kind === "missing") return liveSession(store, undefined, ref);
  if (loaded.kind === "refused") throw new Error(`refused: ${loaded.refusal.reason}`);
  return liveSession(store, loaded, ref);
}

/** What a load gives; nothing when there is none. */
export async function loadAll(store: TranscriptStore, ref = REF): Promise<readonly TranscriptMessage[]> {
  return (await resumed(store, ref)).messages();
}
