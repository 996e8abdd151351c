import { openAo, openInbox } from "../src/compose.ts";
import { leaveHookEvent } from "./hooks.ts";
import { processInterruption } from "./interruption.ts";
import { processIo } from "./io.ts";
import { run, wantsJson } from "./run.ts";

const argv = process.argv.slice(2);
const io = processIo(processInterruption(wantsJson(argv)));

async function main(): Promise<void> {
  if (argv[0] === "hooks") await leaveHookEvent({ args: argv.slice(1), io, openInbox: () => openInbox(io) });
  else process.exitCode = await run(argv, io, openAo);
}

void main();
