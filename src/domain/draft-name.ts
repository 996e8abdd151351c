const DRAFT = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/**
 * Where a file of the data directory is written before it is renamed to its `path`; `uuid` is unlike any other. Pure.
 */
export function draftName(path: string, uuid: string): string {
  return `${path}.${uuid}.tmp`;
}

/** Whether that is the name of a draft: of a writer at work, or of one that died. Pure. */
export function isDraftName(name: string): boolean {
  return DRAFT.test(name);
}
