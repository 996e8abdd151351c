import { randomUUID } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { errorMessage, isAoError } from "../../../../domain/errors.ts";
import { conversationsFolder } from "../conversation-path.ts";
import { PROGRAM_VERSION } from "../program-version.ts";
import {
  type Conversation,
  createConversation,
  forkConversation,
  resumeConversation,
} from "./conversation.ts";
import { USAGE } from "./help.ts";
import { parseProgramArgs, type Start } from "./program-args.ts";
import { runInteractively } from "./run-interactively.ts";

function dataDir(): string {
  const { AO_DATA_DIR: own, XDG_DATA_HOME: xdg } = process.env;
  // A relative one is ignored, as ao itself does and the XDG Base Directory Specification demands.
  const shared = xdg?.startsWith("/") ? xdg : join(homedir(), ".local", "share");
  return own || join(shared, "ao");
}

function openConversation(start: Start): Conversation {
  const dir = conversationsFolder(dataDir());
  switch (start.kind) {
    case "new":
      return createConversation({ dir, id: start.id ?? randomUUID() });
    case "resume":
      return resumeConversation({ dir, id: start.id });
    case "fork":
      return forkConversation({ dir, id: start.parentId }, start.id);
  }
}

function main(): void {
  const args = parseProgramArgs(process.argv.slice(2));
  if (args.kind !== "run") {
    process.stdout.write(`${args.kind === "help" ? USAGE : PROGRAM_VERSION}\n`);
    return;
  }
  const root = realpathSync(process.cwd());
  const prompt = args.promptFile === null ? null : readFileSync(args.promptFile, "utf8");
  const conversation = openConversation(args.start);
  runInteractively({ root, prompt, conversation, model: args.model, startKind: args.start.kind });
}

try {
  main();
} catch (error) {
  process.stderr.write(`embedded agent: ${errorMessage(error)}\n`);
  process.exitCode = isAoError(error, "usage") ? 2 : 1;
}
