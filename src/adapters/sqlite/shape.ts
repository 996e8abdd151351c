/**
 * Checks untrusted data. `null` means that it has the shape; else the answer is the path of the first part
 * that has not, `""` for the value itself. (A schema library costs more start-up time than all of a list.)
 */
export type Check = (value: unknown) => string | null;

/** A check of the value itself. */
export function check(holds: (value: unknown) => boolean): Check {
  return (value) => (holds(value) ? null : "");
}

/** Any string. */
export const text: Check = (value) => (typeof value === "string" ? null : "");

/** Any number that JSON can hold. */
export const number: Check = (value) => (Number.isFinite(value) ? null : "");

/** One of the given words. */
export function oneOf(words: readonly string[]): Check {
  const known = new Set<unknown>(words);
  return check((value) => known.has(value));
}

/** Text that `parse` knows. */
export function parsedBy(parse: (text: string) => unknown): Check {
  return check((value) => typeof value === "string" && parse(value) !== undefined);
}

/** `null`, or what `other` says. */
export function nullable(other: Check): Check {
  return (value) => (value === null ? null : other(value));
}

/** Left out, or what `other` says. */
export function optional(other: Check): Check {
  return (value) => (value === undefined ? null : other(value));
}

/** An array of which each item passes. */
export function listOf(item: Check): Check {
  return check((value) => Array.isArray(value) && value.every((each) => item(each) === null));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function pathOf(name: string, flaw: string): string {
  return flaw === "" ? name : `${name}.${flaw}`;
}

/** An object of which each named field passes. Fields that are not named are let through. */
export function shape<Shape>(fields: { readonly [Key in keyof Shape & string]-?: Check }): Check {
  const checks = Object.entries<Check>(fields).map(([name, field]) => ({ name, field }));
  return (value) => {
    if (!isRecord(value)) return "";
    for (const one of checks) {
      const flaw = one.field(value[one.name]);
      if (flaw !== null) return pathOf(one.name, flaw);
    }
    return null;
  };
}
