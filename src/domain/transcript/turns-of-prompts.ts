/** A prompt in an agent's own log. */
export interface LoggedPrompt {
  readonly text: string | null;
  /** Unix milliseconds; `null` when the log does not tell. */
  readonly atMs: number | null;
}

/** A turn, and when its agent told that it took its prompt up, Unix milliseconds. */
export interface BegunTurn {
  readonly turnId: string;
  readonly startedAtMs: number;
}

/** How far the record of a prompt and the word of its agent may lie apart, in either order, on a busy machine. */
const APART_MS = 30_000;

/**
 * By prompt, the turn that began with it. A prompt and a turn belong together when each is the nearest in time that
 * the other may belong to: so none takes the turn of another whose own is not known.
 *
 * @param mayBe asked only of a prompt and a turn that are near each other: false when the turn's text is known to be
 *   another.
 */
export function turnsOfPrompts<Prompt extends LoggedPrompt>(
  prompts: readonly Prompt[],
  turns: readonly BegunTurn[],
  mayBe: (prompt: Prompt, turn: BegunTurn) => boolean,
): ReadonlyMap<Prompt, string> {
  const pairs = prompts.flatMap((prompt) => pairsOf(prompt, turns, mayBe));
  const ofPrompt = nearest(pairs, ({ prompt }) => prompt);
  const ofTurn = nearest(pairs, ({ turn }) => turn);
  const found = [...ofPrompt.values()].filter((pair) => ofTurn.get(pair.turn) === pair);
  return new Map(found.map(({ prompt, turn }) => [prompt, turn.turnId]));
}

interface Pair<Prompt> {
  readonly prompt: Prompt;
  readonly turn: BegunTurn;
  readonly apartMs: number;
}

function pairsOf<Prompt extends LoggedPrompt>(
  prompt: Prompt,
  turns: readonly BegunTurn[],
  mayBe: (prompt: Prompt, turn: BegunTurn) => boolean,
): readonly Pair<Prompt>[] {
  const { atMs } = prompt;
  if (atMs === null) return [];
  return turns
    .map((turn) => ({ prompt, turn, apartMs: Math.abs(turn.startedAtMs - atMs) }))
    .filter(({ turn, apartMs }) => apartMs <= APART_MS && mayBe(prompt, turn));
}

/** The first of those that are equally near. */
function nearest<Prompt, Key>(
  pairs: readonly Pair<Prompt>[],
  keyOf: (pair: Pair<Prompt>) => Key,
): ReadonlyMap<Key, Pair<Prompt>> {
  const best = new Map<Key, Pair<Prompt>>();
  for (const pair of pairs) {
    const other = best.get(keyOf(pair));
    if (other === undefined || pair.apartMs < other.apartMs) best.set(keyOf(pair), pair);
  }
  return best;
}
