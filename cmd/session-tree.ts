import type { SessionRecord } from "../src/domain/session.ts";

/** A session with how deep it stands below one that is no fork of those shown. */
interface Branch {
  readonly record: SessionRecord;
  readonly depth: number;
}

/** Each fork behind the session it comes from, else in the order given; one whose parent is not there is a root. */
export function asTree(records: readonly SessionRecord[]): readonly Branch[] {
  const ids = new Set<string>(records.map(({ id }) => id));
  const parentOf = ({ metadata }: SessionRecord) => {
    const parent = metadata.fork?.parentId;
    return parent !== undefined && ids.has(parent) ? parent : null;
  };
  const childrenOf = new Map<string | null, SessionRecord[]>();
  for (const record of records) {
    const parent = parentOf(record);
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), record]);
  }
  const below = (parent: string | null, depth: number): readonly Branch[] =>
    (childrenOf.get(parent) ?? []).flatMap((record) => [{ record, depth }, ...below(record.id, depth + 1)]);
  return below(null, 0);
}
