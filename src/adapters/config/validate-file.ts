import type * as z from "zod";
import { AoError } from "../../domain/errors.ts";
import { nearestName } from "./nearest-name.ts";
import type { KeyPath, YamlFile } from "./read-yaml.ts";
import { type LocalFile, localFileSchema, type SharedFile, sharedFileSchema, UNUSED } from "./schema.ts";

export type ParsedFile =
  | { readonly kind: "shared"; readonly file: SharedFile; readonly warnings: readonly string[] }
  | { readonly kind: "local"; readonly file: LocalFile; readonly warnings: readonly string[] };

interface Problem {
  readonly line: number;
  readonly key: string;
  readonly message: string;
}

interface Walk {
  readonly yaml: YamlFile;
  readonly unknown: string[];
  readonly unused: string[];
}

/** What `ao` does anyway; a file that says so needs no warning. */
const BUILT_IN: Readonly<Record<string, unknown>> = { runtime: "tmux", workspace: "worktree" };

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Names such as `constructor` are those of a key like any other. */
function ownValue(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function unwrap(schema: unknown): {
  readonly shape?: z.ZodRawShape;
  readonly values?: unknown;
  readonly isUnused: boolean;
} {
  const outer = schema as z.ZodType;
  const inner = outer.type === "optional" ? (outer as z.ZodOptional<z.ZodType>).unwrap() : outer;
  const isUnused = outer.meta()?.description === UNUSED;
  if (inner.type === "object") return { shape: (inner as z.ZodObject).shape, isUnused };
  if (inner.type === "record") return { values: (inner as z.ZodRecord).valueType, isUnused };
  return { isUnused };
}

function unknownKey(walk: Walk, key: KeyPath, known: readonly string[]): string {
  const name = String(key.at(-1));
  const nearest = nearestName(name, known);
  const place = `${walk.yaml.path}:${walk.yaml.lineOf(key)}`;
  return `${place}: unknown key ${key.join(".")}${nearest ? `, did you mean ${nearest}?` : ""}`;
}

/** A copy of `value` without the keys the schema does not know; they are noted on the way. */
function prune(walk: Walk, schema: unknown, value: unknown, at: KeyPath): unknown {
  const { shape, values } = unwrap(schema);
  if (!isMapping(value) || (shape === undefined && values === undefined)) return value;
  const kept = Object.entries(value).flatMap(([name, item]) => {
    const key = [...at, name];
    const next = shape ? ownValue(shape, name) : values;
    if (next === undefined) {
      walk.unknown.push(unknownKey(walk, key, Object.keys(shape ?? {})));
      return [];
    }
    if (unwrap(next).isUnused && ownValue(BUILT_IN, name) !== item) walk.unused.push(key.join("."));
    return [[name, prune(walk, next, item, key)] as const];
  });
  return Object.fromEntries(kept);
}

function warningsOf({ yaml, unknown, unused }: Walk): readonly string[] {
  if (unused.length === 0) return unknown;
  return [...unknown, `${yaml.path}: these keys have no effect yet: ${unused.join(", ")}`];
}

function problemOf(yaml: YamlFile, issue: z.core.$ZodIssue): Problem {
  const key = issue.path.filter((part) => typeof part !== "symbol");
  const missing = issue.code === "invalid_type" && issue.input === undefined;
  // A bad key of a record carries its own reason one level down.
  const message = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  return {
    line: yaml.lineOf(key),
    key: key.join("."),
    message: missing ? message.replace(/, is nothing$/, " and is missing") : message,
  };
}

function invalid(yaml: YamlFile, problems: readonly Problem[]): AoError {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  const text = first ? `${yaml.path}:${first.line}: ${first.key || "the file"} ${first.message}` : yaml.path;
  return new AoError("config_invalid", `${text}${more}`, {
    hint: problems.length > 1 ? "see them all: ao config validate" : "check it again: ao config validate",
    details: { path: yaml.path, problems },
  });
}

function checked<Output>(walk: Walk, schema: z.ZodType<Output>): Output {
  const result = schema.safeParse(prune(walk, schema, walk.yaml.content, []), { reportInput: true });
  if (result.success) return result.data;
  throw invalid(
    walk.yaml,
    result.error.issues.map((issue) => problemOf(walk.yaml, issue)),
  );
}

/**
 * Checks the content of a configuration file. Unknown keys and keys without effect are warnings.
 *
 * @throws AoError config_invalid with `details.problems` (`line`, `key`, `message`) for bad values.
 */
export function validateFile(yaml: YamlFile): ParsedFile {
  const walk: Walk = { yaml, unknown: [], unused: [] };
  const shared = isMapping(yaml.content) && "projects" in yaml.content;
  if (shared) {
    const file = checked(walk, sharedFileSchema);
    return { kind: "shared", file, warnings: warningsOf(walk) };
  }
  const file = checked(walk, localFileSchema);
  return { kind: "local", file, warnings: warningsOf(walk) };
}
