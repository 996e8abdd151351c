import { mkdir } from "node:fs/promises";
import type { ForkAnswer, ForkRequest } from "../../../ports/agent.ts";
import { asMembers, type Members, membersIn } from "../json-lines.ts";
import { putNew } from "../log-files.ts";
import { findRollout, isConversationId, newRollout } from "./codex-files.ts";
import { entriesIn } from "./conversation-entries.ts";
import { readRollout } from "./read-rollout.ts";
import { isTurnStart, turnEndIn } from "./rollout-record.ts";

/** What stands for the first conversation in a record, and what stands in its place in the copy. */
type Renaming = ReadonlyMap<string, string>;

/** Values that name it, in whatever member; a text that only speaks of it stays as it is. */
function renamed(value: unknown, names: Renaming): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => renamed(one, names));
  const members = asMembers(value);
  return members === undefined
    ? value
    : Object.fromEntries(Object.entries(members).map(([name, one]) => [name, renamed(one, names)]));
}

/** What the model was told stays byte for byte. */
function copied(line: string, names: Renaming): string {
  const record = membersIn(line);
  if (record === undefined) return "";
  return JSON.stringify(record["type"] === "response_item" ? record : renamed(record, names));
}

/** Through the end of the turn in which that line stands: what ends a turn may be written a moment later. */
function linesThrough(lines: readonly string[], position: number): readonly string[] {
  const isEdge = (record: Members | undefined) =>
    record !== undefined && (isTurnStart(record) || turnEndIn(record) !== undefined);
  const rest = lines.slice(position - 1);
  const edge = rest.findIndex((line) => isEdge(membersIn(line)));
  const found = edge === -1 ? undefined : membersIn(rest[edge] ?? "");
  const isEnd = found !== undefined && turnEndIn(found) !== undefined;
  return lines.slice(0, isEnd ? position + edge : position);
}

/** The log up to a position, as that of another conversation in another workspace. */
function copyOf(content: string, { source, throughPosition, launch }: ForkRequest): string | undefined {
  if (entriesIn(content).every(({ position }) => position !== throughPosition)) return undefined;
  const names = new Map([
    [source.agentSessionId, launch.agentSessionId ?? ""],
    [source.workspacePath, launch.workspacePath],
  ]);
  // Line by line, so that what was said keeps its position.
  const lines = linesThrough(content.split("\n"), throughPosition);
  return lines.map((line) => `${copied(line, names)}\n`).join("");
}

/** What codex keeps of a user, for each of the two conversations. */
interface Folders {
  readonly from: string;
  readonly to: string;
}

/**
 * Copies the log of a conversation up to the end of a turn under a new id, where codex takes it up as if it had been
 * held in the new workspace (0.171.0). The first log is only read.
 */
export async function copyConversation({ from, to }: Folders, request: ForkRequest): Promise<ForkAnswer> {
  const { source, throughPosition, launch } = request;
  const id = launch.agentSessionId;
  if (id === null || !isConversationId(id)) return { kind: "refused", why: "the new conversation has no id" };
  const content = await readRollout(from, source.agentSessionId, source.workspacePath);
  if (content === undefined) {
    return { kind: "refused", why: `there is no conversation ${source.agentSessionId}` };
  }
  const copy = copyOf(content, request);
  if (copy === undefined) return { kind: "refused", why: `it does not reach position ${throughPosition}` };
  const taken: ForkAnswer = { kind: "refused", why: `conversation ${id} is there already` };
  if ((await findRollout(to, id)) !== undefined) return taken;
  const { dir, path } = newRollout(to, id, new Date());
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (!(await putNew(path, copy))) return taken;
  const inheritedThrough = entriesIn(copy).at(-1)?.position ?? throughPosition;
  return { kind: "accepted", agentSessionId: id, inheritedThrough };
}
