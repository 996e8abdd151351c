import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CancelAnswer } from "../../../domain/cancel-answer.ts";
import { errorMessage } from "../../../domain/errors.ts";
import type { CancelTarget } from "../../../ports/turn-cancel.ts";

/** The plugin waits 3 s for the end of the turn and looks ten times a second. */
const ANSWER_MS = 6_000;
const POLL_MS = 50;

/** Asks the plugin of a launch to stop the turn of the session's conversation, by a file in its door. */
export async function cancelTurn(
  { launchDir, agentSessionId }: Pick<CancelTarget, "launchDir" | "agentSessionId">,
  answerMs = ANSWER_MS,
): Promise<CancelAnswer> {
  if (agentSessionId === null) {
    return { kind: "disconnected", detail: "the agent has not taken the prompt up yet" };
  }
  const door = join(launchDir, "door");
  const ask = join(door, `${randomUUID()}.ask`);
  try {
    await put(launchDir, ask, agentSessionId);
    return await answerTo(ask, answerMs);
  } catch (error) {
    return { kind: "disconnected", detail: errorMessage(error) };
  }
}

async function put(launchDir: string, ask: string, content: string): Promise<void> {
  await mkdir(join(launchDir, "door"), { recursive: true, mode: 0o700 });
  const draft = join(launchDir, `${randomUUID()}.draft`);
  await writeFile(draft, content, { mode: 0o600, flag: "wx" });
  await rename(draft, ask);
}

async function answerTo(ask: string, answerMs: number): Promise<CancelAnswer> {
  const path = ask.replace(/ask$/, "answer");
  for (const endMs = Date.now() + answerMs; Date.now() < endMs; await sleep(POLL_MS)) {
    const answer = await readFile(path, "utf8").catch(() => undefined);
    if (answer === undefined) continue;
    await rm(path, { force: true });
    return meant(answer);
  }
  return (await takeBack(ask))
    ? { kind: "disconnected", detail: "the agent's plugin did not take it" }
    : { kind: "delivery_unconfirmed", detail: "the agent's plugin did not answer" };
}

/** Whether nobody took it. */
async function takeBack(ask: string): Promise<boolean> {
  return unlink(ask).then(
    () => true,
    () => false,
  );
}

function meant(answer: string): CancelAnswer {
  if (answer === "stopped") return { kind: "confirmed" };
  if (answer === "absent") return { kind: "target_absent" };
  return { kind: "delivery_unconfirmed", detail: `the agent's plugin says: ${answer}` };
}
