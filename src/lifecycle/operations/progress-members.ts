import { type JsonValue, jsonMembers } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import type { Operation } from "../../domain/operation.ts";

/**
 * The members of an operation's progress, those of `objects` objects.
 *
 * @throws AoError store_corrupt when one is not.
 */
export function requireMembers(
  { id, progress }: Operation,
  objects: readonly string[],
): { readonly [name: string]: JsonValue } {
  const members = jsonMembers(progress);
  const flaw = objects.find((name) => jsonMembers(members?.[name] ?? null) === undefined);
  if (members !== undefined && flaw === undefined) return members;
  throw new AoError("store_corrupt", `operation ${id} cannot be read (progress.${flaw ?? ""})`, {
    hint: "ao doctor",
    details: { operationId: id },
  });
}

/** The `warnings` of a result. */
export function warningsIn(result: JsonValue): readonly string[] {
  const warnings = jsonMembers(result)?.["warnings"];
  return Array.isArray(warnings) ? warnings.map(String) : [];
}
