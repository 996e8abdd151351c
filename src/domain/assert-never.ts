/**
 * Marks a branch that the types prove unreachable; a new variant stops the build here.
 *
 * @throws Error when untyped data reached the branch all the same.
 */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
