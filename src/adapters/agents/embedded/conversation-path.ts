import { join } from "node:path";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text can be the id of a conversation: a UUID in lower case, so that it is safe in a path. */
export function isConversationId(text: string): boolean {
  return UUID.test(text);
}

/** Where the conversations are. */
export function conversationsFolder(dataDir: string): string {
  return join(dataDir, "embedded");
}

/** The file of one conversation in `dir`; `id` must have passed `isConversationId`. */
export function conversationFile(dir: string, id: string): string {
  return join(dir, `${id}.jsonl`);
}
