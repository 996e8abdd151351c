import { type Command, Option } from "commander";
import { AoError } from "../../src/domain/errors.ts";
import { printable } from "../../src/domain/printable.ts";
import { type SendResult, sendMessage } from "../../src/lifecycle/messages/send-message.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { durationFlag, jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { readText } from "../read-text.ts";
import { type RequestFlags, requestIdOf, requestIdOption } from "../request-flags.ts";

interface SendFlags extends RequestFlags {
  readonly message?: string;
  readonly file?: string;
  readonly timeout: string;
  readonly wait: boolean;
}

function refuseSeveralSources(words: readonly string[], flags: SendFlags): void {
  const sources = [words.length > 0, flags.message !== undefined, flags.file !== undefined];
  if (sources.filter(Boolean).length <= 1) return;
  throw new AoError("usage", "the message was given more than once", {
    hint: "use one of: words, --message, --file, standard input",
  });
}

async function messageText(invocation: Invocation, words: readonly string[], flags: SendFlags) {
  refuseSeveralSources(words, flags);
  if (words.length > 0) return words.join(" ");
  if (flags.message !== undefined) return flags.message;
  if (flags.file === undefined && invocation.io.stdin.isTTY) {
    throw new AoError("usage", "there is no message", {
      hint: "ao send <session> <text…>, or --file <path>, or pipe it in",
    });
  }
  return readText(invocation.io, flags.file ?? "-", "--file");
}

async function send(invocation: Invocation, name: string, words: readonly string[], flags: SendFlags) {
  const timeoutMs = durationFlag("--timeout", flags.timeout);
  const text = await messageText(invocation, words, flags);
  const requestId = requestIdOf(flags);
  const ao = await invocation.open("existing");
  const id = resolveSessionId(ao.deps, name);
  invocation.progress.step(`waiting for ${id} to take the message`);
  const result = await sendMessage(ao.deps, id, text, { timeoutMs, wait: flags.wait, requestId });
  const { messageId, sessionId, state, turnId } = result;
  await invocation.print({ messageId, sessionId, state, turnId }, () => [`${id}: ${state}`]);
  noteWhatRemains(invocation, result);
  return undefined;
}

function noteWhatRemains(invocation: Invocation, { sessionId, state, waitsFor }: SendResult): void {
  if (state === "unconfirmed")
    invocation.note(`this agent cannot confirm messages; see: ao output ${sessionId}`);
  if (state !== "queued") return;
  invocation.note(`the message waits${waitsFor === null ? "" : `: ${printable(waitsFor)}`}`);
  invocation.note("it is delivered by the next ao send to this session, or by ao reconcile");
}

/** `ao send`. */
export function sendCommand(host: Host): Command {
  return host
    .command({
      usage: "send <session> [text...]",
      purpose: "Send a message to a session's agent and wait for its receipt",
      more: [
        "Any text of up to 1 MB arrives as one message, without newlines at its end. Text that begins with - goes",
        "after --.",
        "Messages are accepted into a queue and delivered in order, each as soon as the agent rests or asks a",
        "question, never while it asks for permission. Interrupted, a message that was accepted stays queued.",
      ].join("\n"),
      examples: [
        ["ao send app-7 please also update the changelog", "a message of a few words"],
        ["ao send app-7 --file review.md", "a long one; `-` and a pipe work too"],
      ],
    })
    .option("-m, --message <text>", "the message as one argument")
    .option("-f, --file <path>", "read the message from a file, `-` for standard input")
    .addOption(
      new Option(
        "--timeout <duration>",
        "how long to wait for an agent that is at work; then the message stays queued",
      ).default("60s"),
    )
    .option("--no-wait", "leave the message in the queue, for the next ao send or ao reconcile")
    .addOption(requestIdOption())
    .addOption(jsonOption())
    .action(host.action(send));
}
