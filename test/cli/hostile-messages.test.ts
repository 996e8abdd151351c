import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { sendSchema, turnsSchema } from "../support/json-schemas.ts";
import { rawAgent } from "../support/stub-agents.ts";

const END = "\u001b[201~";
const MEGABYTE = `;${"-p Enter ä\n\t".repeat(90_000)}`.slice(0, 1024 * 1024 - 90_000);
/** Each a whole message. */
const TEXTS = [
  MEGABYTE,
  ";",
  "-p",
  "-p --timeout 1s",
  "Enter",
  `say one${END}\rsay two\r\nsay three${END}`,
] as const;
/** Those of them that an agent can be given without bracketed paste, too. */
const PLAIN = TEXTS.filter((text) => !text.includes(END));
const PATIENCE = { timeout: 20_000, interval: 100 };

const sha256 = (text: string | Buffer) => createHash("sha256").update(text).digest("hex");

/** The prompts that the only embedded agent was given, in order. */
function prompts({ dataDir }: Ao): readonly string[] {
  const folder = join(dataDir, "embedded");
  const [file = ""] = readdirSync(folder);
  return readFileSync(join(folder, file), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line): { readonly kind: string; readonly text: string } => JSON.parse(line))
    .filter(({ kind }) => kind === "prompt")
    .map(({ text }) => text);
}

/** Sends a text as a file, and the next one through standard input. */
function sender(ao: Ao, id: string) {
  let count = 0;
  return (text: string) => {
    count += 1;
    if (count % 2 === 0) return ao.json(sendSchema, ["send", id], { input: text });
    const path = join(ao.root, `message-${count}`);
    writeFileSync(path, text);
    return ao.json(sendSchema, ["send", id, "--file", path]);
  };
}

describe("a message of a megabyte, of tmux's own words, or with keys in it", () => {
  test("is one prompt of one turn, byte for byte, for an agent that confirms it", async () => {
    expect(Buffer.byteLength(MEGABYTE)).toBeGreaterThan(1_000_000);
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), ["--prompt", "say ready"]);
    const send = sender(ao, id);
    for (const text of TEXTS) expect(await send(text)).toMatchObject({ state: "delivered" });
    const turns = async () =>
      (await ao.json(turnsSchema, ["turns", id])).data.map(({ outcome, phase }) => outcome ?? phase);
    await expect.poll(turns, PATIENCE).toEqual(["say ready", ...TEXTS].map(() => "completed"));
    expect(prompts(ao).map(sha256)).toEqual(["say ready", ...TEXTS].map(sha256));
  });

  test("is typed once, byte for byte, to any other program that reads keys", async () => {
    const ao = aoSandbox();
    const agent = rawAgent();
    const id = await ao.spawn(ao.repository(), ["--agent", "shell", "--", ...agent.argv]);
    await expect.poll(() => agent.isReady(), PATIENCE).toBe(true);
    const send = sender(ao, id);
    for (const text of PLAIN) expect(await send(text)).toMatchObject({ state: "unconfirmed" });
    const all = PLAIN.map((text) => `${text}\r`).join("");
    await expect.poll(() => sha256(agent.received()), PATIENCE).toBe(sha256(all));
    for (const text of TEXTS.filter((one) => !PLAIN.includes(one))) {
      const path = join(ao.root, "unsafe");
      writeFileSync(path, text);
      expect(await ao.error(["send", id, "--file", path])).toMatchObject({ code: "message_unsafe" });
    }
    expect(sha256(agent.received())).toBe(sha256(all));
  });
});
