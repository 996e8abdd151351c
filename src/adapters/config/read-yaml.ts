import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { plainData } from "./plain-data.ts";
import { readUtf8 } from "./read-utf8.ts";

export type KeyPath = readonly (string | number)[];

export interface YamlFile {
  readonly path: string;
  /** Plain data; keys that were left empty are absent, and none is called `__proto__`. */
  readonly content: unknown;
  /** The line a key path stands on, from 1; that of the nearest enclosing one when it is not there. */
  lineOf(key: KeyPath): number;
}

/** YAML 1.2 and no more, whatever the file says: no dates, sets or bytes, and no tags of its own. */
const PARSING = { schema: "core", resolveKnownTags: false, prettyErrors: false, logLevel: "error" } as const;

function readText(path: string): string {
  try {
    return readUtf8(path);
  } catch (cause) {
    throw new AoError("config_invalid", `configuration ${path} cannot be read: ${errorMessage(cause)}`, {
      cause,
      details: { path },
    });
  }
}

function invalid(path: string, line: number, reason: string): AoError {
  return new AoError("config_invalid", `configuration ${path}:${line} is not valid YAML: ${reason}`, {
    details: { path, line },
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
 * @throws AoError config_invalid with the line when it cannot be read as plain data.
 */
export function readYaml(path: string): YamlFile {
  const text = readText(path);
  const lines = new LineCounter();
  const document = parseDocument(text, { ...PARSING, lineCounter: lines });
  const data = plainData(document);
  if (data.kind === "flaw") throw invalid(path, lines.linePos(data.offset ?? 0).line, data.reason);

  const lineOf = (key: KeyPath): number => {
    for (let length = key.length; length > 0; length--) {
      const offset = offsetOf(document, key.slice(0, length));
      if (offset !== undefined) return lines.linePos(offset).line;
    }
    return 1;
  };
  return { path, content: data.content, lineOf };
}
