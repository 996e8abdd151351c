import { randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { hasErrorCode } from "../../../domain/error-code.ts";
import type { ForkAnswer, ForkRequest } from "../../../ports/agent.ts";
import { asPosition, parseLine } from "./conversation-entries.ts";
import { conversationFile, conversationsFolder, isConversationId } from "./conversation-path.ts";

/** Whether a line of a conversation file was written up to a position; the one that opens the file never is. */
function isCopied(line: string, throughPosition: number): boolean {
  const fields = parseLine(line);
  if (fields === undefined || fields["kind"] === "conversation") return false;
  return (asPosition(fields["position"]) ?? 0) <= throughPosition;
}

/** The file of the new conversation; `undefined` when the old one has no such position. */
function copyOf(content: string, request: ForkRequest): string | undefined {
  const { source, throughPosition, launch } = request;
  const lines = content.split("\n").filter((line) => line !== "");
  const isThere = lines.some((line) => asPosition(parseLine(line)?.["position"]) === throughPosition);
  if (!isThere) return undefined;
  // What was taken over lies below the position of the opening line, as a fork by the program itself has it.
  const opening = { kind: "conversation", id: launch.agentSessionId, parentId: source.agentSessionId };
  const position = throughPosition + 1;
  const head = JSON.stringify({ ...opening, position, after: null, atMs: Math.floor(position / 1000) });
  const copied = lines.filter((line) => isCopied(line, throughPosition));
  return [head, ...copied].map((line) => `${line}\n`).join("");
}

/** Appears whole or not at all, durably. False when the name is taken. */
async function putNew(folder: string, path: string, content: string): Promise<boolean> {
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    await using(partial, "wx", async (file) => {
      await file.writeFile(content);
      await file.sync();
    });
    await link(partial, path);
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(partial, { force: true });
  }
  await using(folder, "r", (file) => file.sync());
  return true;
}

type OpenFile = Awaited<ReturnType<typeof open>>;

async function using(path: string, flags: string, work: (file: OpenFile) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

/** Copies a conversation of the embedded agent up to a position; its file is only read. */
export async function copyConversation(request: ForkRequest): Promise<ForkAnswer> {
  const { source, throughPosition, launch } = request;
  const id = launch.agentSessionId;
  if (id === null || !isConversationId(id)) return { kind: "refused", why: "the new conversation has no id" };
  const folder = conversationsFolder(launch.dataDir);
  const content = await readSource(folder, source.agentSessionId);
  if (content === undefined) {
    return { kind: "refused", why: `there is no conversation ${source.agentSessionId}` };
  }
  const copy = copyOf(content, request);
  if (copy === undefined) return { kind: "refused", why: `it does not reach position ${throughPosition}` };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const isNew = await putNew(folder, conversationFile(folder, id), copy);
  if (!isNew) return { kind: "refused", why: `conversation ${id} is there already` };
  return { kind: "accepted", agentSessionId: id, inheritedThrough: null };
}

async function readSource(folder: string, id: string): Promise<string | undefined> {
  if (!isConversationId(id)) return undefined;
  return readFile(conversationFile(folder, id), "utf8").catch((error: unknown) => {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  });
}
