/** Whole numbers below a limit, the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): (below: number) => number {
  let state = Math.imul(seed, 0x9e3779b9);
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
