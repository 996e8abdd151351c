import { type Alias, type Document, isNode, isScalar, type Pair, visit } from "yaml";
import { errorMessage } from "../../domain/errors.ts";

/** A document as plain data, or what in it cannot become any, and where that stands in the text. */
export type PlainData =
  | { readonly kind: "plain"; readonly content: unknown }
  | { readonly kind: "flaw"; readonly reason: string; readonly offset: number | undefined };

type Flaw = Extract<PlainData, { readonly kind: "flaw" }>;

const flawAt = (reason: string, node: unknown): Flaw => ({
  kind: "flaw",
  reason,
  offset: isNode(node) ? node.range?.[0] : undefined,
});

function flawOfKey({ key }: Pair): Flaw | undefined {
  if (key !== null && !isScalar(key)) return flawAt("a key must be text", key);
  return key?.value === "__proto__" ? flawAt("a key cannot be called __proto__", key) : undefined;
}

function flawOfAlias(document: Document, alias: Alias, around: readonly unknown[]): Flaw | undefined {
  const target = alias.resolve(document);
  if (target === undefined) return flawAt(`there is no anchor &${alias.source} before this alias`, alias);
  return around.includes(target) ? flawAt(`*${alias.source} stands within its own anchor`, alias) : undefined;
}

/** What the parser complains of, or lets through although plain data cannot hold it. */
function flawIn(document: Document): Flaw | undefined {
  const [complaint] = [...document.errors, ...document.warnings];
  if (complaint) return { kind: "flaw", reason: reasonOf(complaint), offset: complaint.pos[0] };
  let flaw: Flaw | undefined;
  const note = (found: Flaw | undefined) => {
    flaw = found;
    return found && visit.BREAK;
  };
  visit(document, {
    Pair: (_key, pair) => note(flawOfKey(pair)),
    Alias: (_key, alias, around) => note(flawOfAlias(document, alias, around)),
  });
  return flaw;
}

function firstAlias(document: Document): Alias | undefined {
  let first: Alias | undefined;
  visit(document, {
    Alias: (_key, alias) => {
      first = alias;
      return visit.BREAK;
    },
  });
  return first;
}

/** In words of our own where the parser's are about itself (yaml 2.9). */
function reasonOf(error: unknown): string {
  const text = errorMessage(error).trim();
  if (text.startsWith("Maximum call stack")) return "it is nested too deeply";
  if (text.startsWith("Source contains multiple")) return "it holds more than one document";
  return text.startsWith("Excessive alias count") ? "its aliases repeat too much" : text;
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutEmpty(item)]));
}

/** The content of a document; keys that were left empty are absent. Never throws. */
export function plainData(document: Document): PlainData {
  try {
    return flawIn(document) ?? { kind: "plain", content: withoutEmpty(document.toJS()) ?? {} };
  } catch (error) {
    const reason = reasonOf(error);
    return flawAt(reason, reason.includes("aliases") ? firstAlias(document) : undefined);
  }
}
