import type { Ao } from "../src/compose.ts";
import { describeExit } from "../src/domain/agent-exit.ts";
import type { ProjectId } from "../src/domain/ids.ts";
import { isTerminal } from "../src/domain/lifecycle.ts";
import { printable } from "../src/domain/printable.ts";
import type { SessionRecord } from "../src/domain/session.ts";
import { type SessionJson, toSessionJson } from "../src/domain/session-json.ts";
import { deriveStatus, type Status } from "../src/domain/status.ts";
import { age } from "./age.ts";
import type { Color, Paint } from "./color.ts";
import { type Cell, table } from "./table.ts";

const STATUS_COLORS: Readonly<Partial<Record<Status, Color>>> = {
  working: "green",
  idle: "blue",
  spawning: "cyan",
  needs_input: "yellow",
  stuck: "yellow",
  detecting: "yellow",
  errored: "red",
  ci_failed: "red",
  changes_requested: "magenta",
  killed: "dim",
  cleanup: "dim",
  done: "dim",
  terminated: "dim",
};

/** A session as JSON, with its project's name and the command that attaches to it. */
export function sessionJson(ao: Ao, record: SessionRecord): SessionJson {
  return sessionsJson(ao)(record);
}

/** The same for many: each project is read once. */
export function sessionsJson({ deps }: Ao): (record: SessionRecord) => SessionJson {
  const names = new Map<string, string>();
  const nameOf = (id: ProjectId): string => {
    const name = names.get(id) ?? deps.store.project(id)?.name ?? id;
    names.set(id, name);
    return name;
  };
  return (record) => {
    const handle = isTerminal(record.lifecycle) ? null : record.metadata.runtime;
    const attach = handle && deps.runtime.attachArgv(handle);
    return toSessionJson(record, { projectName: nameOf(record.projectId), attach });
  };
}

/** A status in its colour, with how the agent ended where that is known. */
function statusCell({ lifecycle, metadata: { exit = null } }: SessionRecord): Cell {
  const status = deriveStatus(lifecycle);
  const color = STATUS_COLORS[status];
  const text = exit === null ? status : `${status} (${describeExit(exit)})`;
  return color ? { text, color } : text;
}

interface SessionTableOptions {
  readonly records: readonly SessionRecord[];
  /** How far each is set in; not at all when absent. */
  readonly depths?: readonly number[];
  readonly nowMs: number;
  readonly paint: Paint;
  readonly width: number | undefined;
}

/** Sessions as aligned columns under a header. */
export function sessionTable({
  records,
  depths = [],
  nowMs,
  paint,
  width,
}: SessionTableOptions): Promise<readonly string[]> {
  const rows = records.map((record, index) => [
    `${"  ".repeat(depths[index] ?? 0)}${record.id}`,
    statusCell(record),
    record.projectId,
    record.metadata.agent,
    printable(record.metadata.branch),
    age(record.lifecycle.activity.lastActivityAtMs ?? record.createdAtMs, nowMs),
    printable(record.metadata.title ?? record.issueId ?? ""),
  ]);
  return table({
    header: ["ID", "STATUS", "PROJECT", "AGENT", "BRANCH", "SEEN", "TITLE"],
    rows,
    paint,
    width,
  });
}
