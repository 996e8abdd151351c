/**
 * Called at every durable boundary of a multi-step command with its name, for example
 * `spawn.workspace.create:before`. In use it does nothing; a test ends the process there.
 */
export type FaultPoint = (boundary: string) => Promise<void>;
