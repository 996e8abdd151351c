import { readFileSync } from "node:fs";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { AoError, errorMessage } from "../../domain/errors.ts";

export type KeyPath = readonly (string | number)[];

export interface YamlFile {
  readonly path: string;
  /** Plain data; keys that were left empty are absent. */
  readonly content: unknown;
  /** The line a key path stands on, from 1; that of the nearest enclosing one when it is not there. */
  lineOf(key: KeyPath): number;
}

const MAX_CHARACTERS = 1_000_000;

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new AoError("config_invalid", `configuration ${path} cannot be read: ${errorMessage(cause)}`, {
      cause,
      details: { path },
    });
  }
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutEmpty(item)]));
}

function invalid(path: string, line: number | undefined, reason: string, cause?: unknown): AoError {
  const place = line === undefined ? path : `${path}:${line}`;
  return new AoError("config_invalid", `configuration ${place} is not valid YAML: ${reason}`, {
    cause,
    details: { path, line: line ?? null },
  });
}

/** Where a key begins, or an item of a list; a value may begin lines later. */
function offsetOf(document: Document, key: KeyPath): number | undefined {
  const parent = key.length === 1 ? document.contents : document.getIn(key.slice(0, -1), true);
  const name = key.at(-1);
  const pair = isMap(parent)
    ? parent.items.find((item) => isScalar(item.key) && item.key.value === name)
    : undefined;
  const node = pair?.key ?? document.getIn(key, true);
  return isNode(node) ? node.range?.[0] : undefined;
}

/**
 * Reads a YAML file and remembers on which line each key stands.
 *
 * @throws AoError config_invalid when it cannot be read or is no YAML.
 */
export function readYaml(path: string): YamlFile {
  const text = readText(path);
  if (text.length > MAX_CHARACTERS) throw invalid(path, undefined, "longer than 1 MB");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const error = document.errors[0];
  if (error) throw invalid(path, lines.linePos(error.pos[0]).line, error.message.trim(), error);

  const lineOf = (key: KeyPath): number => {
    for (let length = key.length; length > 0; length--) {
      const offset = offsetOf(document, key.slice(0, length));
      if (offset !== undefined) return lines.linePos(offset).line;
    }
    return 1;
  };
  try {
    return { path, content: withoutEmpty(document.toJS()) ?? {}, lineOf };
  } catch (cause) {
    throw invalid(path, undefined, errorMessage(cause), cause);
  }
}
