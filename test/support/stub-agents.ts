import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "./temp-dir.ts";

/** A program that stands for an agent, with the file in which it writes down what it gets. */
export interface StubAgent {
  readonly argv: readonly string[];
  /** It asks its terminal for bracketed paste. */
  readonly bracketedPaste: boolean;
  /** All bytes it was given so far. */
  received(): Buffer;
  /** Whether it has begun to listen. */
  isReady(): boolean;
}

/** Takes input byte for byte and never ends. `bracketed` asks the terminal for bracketed paste first. */
export function rawAgent({ bracketed = false }: { readonly bracketed?: boolean } = {}): StubAgent {
  return stub(
    bracketed,
    `
process.stdin.setRawMode(true);
if (${bracketed}) process.stdout.write("\\x1b[?2004h");
process.stdin.on("data", (bytes) => appendFileSync(log, bytes));
writeFileSync(ready, "");
process.stdout.write("READY\\r\\n");
`,
  );
}

/** Takes whole lines as the terminal's own line editing gives them. */
export function cookedAgent(): StubAgent {
  return stub(
    false,
    `
process.stdin.on("data", (bytes) => appendFileSync(log, bytes));
writeFileSync(ready, "");
`,
  );
}

/** Prints a line and exits with the status: at once, when the line may be lost, or after a while. */
export function exitingAgent(
  status: number,
  options: { readonly says?: string; readonly afterSeconds?: number } = {},
) {
  const wait = options.afterSeconds === undefined ? "" : `sleep ${options.afterSeconds};`;
  return ["/bin/sh", "-c", `printf '%s\\n' "$1"; ${wait} exit ${status}`, "agent", options.says ?? "goodbye"];
}

/**
 * Ignores TERM and HUP, and so do its children: one in a session of its own, one under nohup, one in the
 * background. Every command line holds `marker`.
 */
export function stubbornAgent(marker: string): readonly string[] {
  const child = (name: string) =>
    `/bin/sh -c 'trap "" HUP TERM; while :; do sleep 0.2; done' ${marker}-${name}`;
  return [
    "/bin/sh",
    "-c",
    `trap '' HUP TERM; setsid ${child("setsid")} & nohup ${child("nohup")} >/dev/null 2>&1 & (${child("plain")}) & while :; do sleep 0.2; done`,
    `${marker}-agent`,
  ];
}

function stub(bracketedPaste: boolean, body: string): StubAgent {
  const folder = tempDir("ao-stub");
  const program = join(folder, "agent.mjs");
  const log = join(folder, "log");
  const ready = join(folder, "ready");
  writeFileSync(
    program,
    `import { appendFileSync, writeFileSync } from "node:fs";
const log = ${JSON.stringify(log)};
const ready = ${JSON.stringify(ready)};
setTimeout(() => process.exit(0), 60_000);
${body}`,
  );
  return {
    argv: [process.execPath, program],
    bracketedPaste,
    received: () => (existsSync(log) ? readFileSync(log) : Buffer.alloc(0)),
    isReady: () => existsSync(ready),
  };
}
