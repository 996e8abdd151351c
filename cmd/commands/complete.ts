import type { Command } from "commander";
import type { SessionId } from "../../src/domain/ids.ts";
import { isTerminal } from "../../src/domain/lifecycle.ts";
import { printable } from "../../src/domain/printable.ts";
import { deriveStatus } from "../../src/domain/status.ts";
import { type Candidate, type Subject, subjectOf } from "../completion.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";

type LiveSubject = Exclude<Subject, { readonly kind: "fixed" }>;

function isWanted(which: "live" | "terminated" | "all", isOver: boolean): boolean {
  return which === "all" || isOver === (which === "terminated");
}

/** Whether a word names a session, alone or as `project:id`. */
function names(word: string, id: SessionId): boolean {
  return word.slice(word.indexOf(":") + 1) === id;
}

/** Ids and names out of the store; what is stored is near enough while somebody types. */
async function liveCandidates(invocation: Invocation, subject: LiveSubject): Promise<readonly Candidate[]> {
  const { deps } = await invocation.open("reading");
  switch (subject.kind) {
    case "project":
      return deps.store.projects().map(({ id, name }) => ({ value: id, description: name }));
    case "agent":
      return [...deps.agents.keys()].map((value) => ({ value, description: "" }));
    case "session":
      return deps.store
        .rows()
        .sessions.filter(
          ({ id, lifecycle }) =>
            isWanted(subject.which, isTerminal(lifecycle)) && !subject.given.some((name) => names(name, id)),
        )
        .map((record) => ({
          value: record.id,
          description: `${deriveStatus(record.lifecycle)} ${record.metadata.title ?? record.metadata.branch}`,
        }));
  }
}

/** `ao __complete`: what the completion scripts ask. It never fails, an empty answer is an answer. */
export function completeCommand(host: Host): Command {
  return host
    .command({ usage: "__complete [words...]", purpose: "Print completion candidates", examples: [] })
    .action(
      host.action(async (invocation, words: readonly string[]) => {
        const root = await host.allCommands();
        const subject = subjectOf(root, words);
        const candidates =
          subject.kind === "fixed"
            ? subject.candidates
            : await liveCandidates(invocation, subject).catch(() => []);
        const lines = candidates.map(({ value, description }) => `${value}\t${printable(description)}`);
        if (lines.length > 0) invocation.io.stdout.write(`${lines.join("\n")}\n`);
        return undefined;
      }),
    );
}
