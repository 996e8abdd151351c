import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseEventFile } from "../../../../src/adapters/inbox/event-file.ts";
import { formatHookEvent } from "../../../../src/domain/hook-event.ts";

const HEAD = "ao-hook 1\nsession app-7\nlaunch l-1\nagent codex\nevent agent-turn-complete\n";
const IN_PLACE = `${HEAD.replace("1", "2")}end l-1-7-8-0\n\n`;
const END = "\nend l-1-7-8-0\n";
const parse = (text: string) => parseEventFile(Buffer.from(text));

describe("parseEventFile", () => {
  test("reads the headers and leaves the body as it is", () => {
    expect(parse(`${HEAD}time 1700000000000\n\nbody\n\n`)).toEqual({
      sessionId: "app-7",
      launchId: "l-1",
      agent: "codex",
      event: "agent-turn-complete",
      atMs: 1_700_000_000_000,
      body: "body\n\n",
    });
  });

  test.each([
    ["no time leaves the time open", `${HEAD}\n`],
    ["an unknown header is ignored", `${HEAD}x-later anything at all \x01\n\n`],
    ["an unknown header may come twice", `${HEAD}note a\nnote b\n\n`],
    ["headers come in any order", "ao-hook 1\nevent e\nagent codex\nlaunch l-1\nsession app-7\n\n"],
  ])("%s", (_fact, text) => {
    expect(parse(text)).toMatchObject({
      sessionId: "app-7",
      launchId: "l-1",
      agent: "codex",
      atMs: null,
      body: "",
    });
  });

  test.each([
    ["no blank line", HEAD],
    ["another first line", `ao-hook 3${HEAD.slice(9)}\n`],
    ["in place, and its end has no name", `${HEAD.replace("1", "2")}\nbody${END}`],
    ["in place, with two ends", `${IN_PLACE.slice(0, -1)}end x\n\n${END}`],
    ["in place, of no session", `${IN_PLACE.replace("session app-7\n", "")}half`],
    ["in place, with a head over 8 KiB", `ao-hook 2\nnote ${"x".repeat(8192)}`],
    ["in place, with a body over 8 MiB", `${IN_PLACE}${"x".repeat(8 * 1024 * 1024 + 1)}${END}`],
    ["a first line with a space behind it", `ao-hook 1 ${HEAD.slice(9)}\n`],
    ["line ends of Windows", `${HEAD}\n`.replaceAll("\n", "\r\n")],
    ["no session", `${HEAD.replace("session app-7\n", "")}\n`],
    ["no launch", `${HEAD.replace("launch l-1\n", "")}\n`],
    ["no agent", `${HEAD.replace("agent codex\n", "")}\n`],
    ["no event", `${HEAD.replace(/event .*\n/, "")}\n`],
    ["an empty launch", `${HEAD.replace("launch l-1", "launch ")}\n`],
    ["a launch without a value", `${HEAD.replace("launch l-1", "launch")}\n`],
    ["two sessions", `${HEAD}session app-8\n\n`],
    ["a session that leads elsewhere", `${HEAD.replace("app-7", "../../app-7")}\n`],
    ["a session with a space behind it", `${HEAD.replace("app-7", "app-7 ")}\n`],
    ["a launch that a shell would run", `${HEAD.replace("l-1", "$(x)")}\n`],
    ["an agent with a terminal sequence", `${HEAD.replace("codex", "\x1b[31m")}\n`],
    ["an agent of 101 letters", `${HEAD.replace("codex", "x".repeat(101))}\n`],
    ["an event with a NUL", `${HEAD.replace("complete", "\0")}\n`],
    ["a header in capitals", `${HEAD.replace("session", "Session")}\n`],
    ["a header behind a space", `${HEAD} note a\n\n`],
    ["a time that is no number", `${HEAD}time soon\n\n`],
    ["a time below zero", `${HEAD}time -1\n\n`],
    ["a time in another notation", `${HEAD}time 1e9\n\n`],
    ["a time that no date can hold", `${HEAD}time 9${"0".repeat(15)}\n\n`],
    ["a head over 8 KiB", `${HEAD}note ${"x".repeat(8192)}\n\n`],
    ["a body over 8 MiB", `${HEAD}\n${"x".repeat(8 * 1024 * 1024 + 1)}`],
  ])("%s is malformed", (_what, text) => {
    expect(parse(text)).toBe("malformed");
  });

  test.each([
    ["nothing", ""],
    ["lines that look like headers", "\n\nao-hook 1\nsession x-1\n\n"],
    ["another's end", "a\nend l-1-7-9-0\n"],
    ["its own end", `a${END}`],
    ["NUL and line ends", "a\0b\r\n\n"],
  ])("an event that is written in place has the body of %s that lies before its last line", (_what, body) => {
    expect(parse(`${IN_PLACE}${body}${END}`)).toMatchObject({ sessionId: "app-7", atMs: null, body });
  });

  test("an event that is written in place is unfinished wherever its writer stops", () => {
    const whole = `${IN_PLACE}{"text":"Grüße"}${END}`;
    const bytes = Buffer.from(whole);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(parseEventFile(bytes.subarray(0, length))).toBe("unfinished");
    }
    expect(parseEventFile(bytes)).toMatchObject({ body: '{"text":"Grüße"}' });
    expect(parse(`${whole}more`)).toBe("unfinished");
  });

  test("bytes that are no text become replacement characters", () => {
    const bytes = Buffer.concat([Buffer.from(`${HEAD}\na`), Buffer.of(0xff, 0x00, 0xfe), Buffer.from("b")]);
    expect(parseEventFile(bytes)).toMatchObject({ body: "a\ufffd\0\ufffdb" });
  });

  test("never throws, whatever the bytes", () => {
    const anyBytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(
        fc.constantFrom("", "ao-hook 1\n", HEAD, "ao-hook 2\n", IN_PLACE),
        anyBytes,
        (start, rest) => {
          const content = parseEventFile(Buffer.concat([Buffer.from(start), rest]));
          expect(typeof content === "string" || content.sessionId !== "").toBe(true);
        },
      ),
    );
  });

  test("gives back every field that was formatted, or nothing", () => {
    const anyField = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("app-7", "l-1", "Stop", "a\nevent b"),
    );
    fc.assert(
      fc.property(
        anyField,
        anyField,
        anyField,
        anyField,
        fc.string(),
        (sessionId, launchId, agent, event, body) => {
          const given = { sessionId, launchId, agent, event, body, atMs: 5 };
          const back = parseEventFile(Buffer.from(formatHookEvent(given)));
          const isClean = ![sessionId, launchId, agent, event].some((field) => field.includes("\n"));
          if (back !== "malformed" && isClean) expect(back).toEqual(given);
        },
      ),
    );
  });
});
