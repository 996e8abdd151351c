/**
 * Asked right before each effect of long work, cheap enough for thousands of them.
 *
 * @throws AoError operation_in_progress when the work is another process's by now: nothing may be changed any more.
 */
export type Fence = () => void;
