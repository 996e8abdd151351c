import { AoError } from "./errors.ts";

/** What JSON can hold. A member that is absent is left out, never `undefined`. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/**
 * The one text of a JSON value: no white space, members sorted by the UTF-16 units of their names, numbers
 * and strings as `JSON.stringify` writes them (RFC 8785; half a surrogate pair is written as its escape
 * instead of being refused).
 *
 * @throws AoError internal when a number is not finite: JSON would turn it into `null`.
 */
export function canonicalJson(value: JsonValue): string {
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) return `{${members(value).join(",")}}`;
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new AoError("internal", `${value} cannot be kept as JSON`);
  }
  return JSON.stringify(value);
}

/** Whether two values are the same JSON; the order of members does not matter, that of items does. */
export function isSameJson(left: JsonValue, right: JsonValue): boolean {
  return canonicalJson(left) === canonicalJson(right);
}

function members(value: { readonly [name: string]: JsonValue }): readonly string[] {
  return Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A record as the JSON it becomes; what JSON cannot hold is left out, as `JSON.stringify` does. */
export function toJson(value: object): JsonValue {
  return JSON.parse(JSON.stringify(value));
}

/** The members of a JSON object; `undefined` for anything else. */
export function jsonMembers(value: JsonValue): { readonly [name: string]: JsonValue } | undefined {
  return value === null || typeof value !== "object" || isList(value) ? undefined : value;
}
