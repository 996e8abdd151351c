import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { git } from "../support/ao.ts";
import type { Everything } from "../support/crash-traces.ts";
import { forkSchema } from "../support/json-schemas.ts";
import type { CrashScenario, Place, Subject } from "./crash-scenarios.ts";

const WORK = "nobody else has this\n";

/** A session that is over, with one turn that wrote a file and committed nothing. */
async function arrange(place: Place, subject: Subject): Promise<Subject> {
  const { ao, repository } = place;
  const prompt = `write precious.txt ${WORK.trim()}`;
  const branch = `kept/${subject.branch}-source`;
  const id = await ao.spawn(repository, ["--branch", branch, "--prompt", prompt]);
  await ao.until(id, "idle");
  for (const argv of [["reconcile"], ["kill", id, "--salvage"], ["reconcile"]]) {
    expect((await ao.run(argv, { cwd: repository })).exitCode).toBe(0);
  }
  return { ...subject, id };
}

/** The conversations that were made from that of a session. */
function conversationsFrom({ ao }: Place, { rows }: Everything, { id }: Subject): readonly string[] {
  const source = rows.find((row) => row.id === id)?.metadata.agentSessionId;
  const folder = join(ao.dataDir, "embedded");
  return readdirSync(folder).filter((name) => {
    const [head = ""] = readFileSync(join(folder, name), "utf8").split("\n");
    return head.includes(`"parentId":${JSON.stringify(source)}`);
  });
}

/** One session with one conversation, or none where nobody can tell whether there is a conversation. */
const check: CrashScenario["check"] = (place, subject, { last, all }) => {
  const rows = all.rows.filter(({ metadata }) => metadata.branch === subject.branch);
  const made = conversationsFrom(place, all, subject);
  if (last.exitCode !== 0) {
    expect(last.stderr).toContain('"fork_unknown"');
    expect(rows).toEqual([]);
    expect(made.length).toBeLessThanOrEqual(1);
    return;
  }
  const { session, status } = forkSchema.parse(JSON.parse(last.stdout));
  expect([session.id, session.parentId, status]).toEqual([rows[0]?.id, subject.id, "committed"]);
  expect(rows).toHaveLength(1);
  expect(readFileSync(join(session.workspacePath, "precious.txt"), "utf8")).toBe(WORK);
  expect(git(session.workspacePath, "status", "--porcelain")).toBe("?? precious.txt");
  expect(made).toEqual([`${session.agentSessionId}.jsonl`]);
};

/** A fork, from a session that is over, that may be killed anywhere. */
export const FORK_SCENARIO: CrashScenario = {
  name: "fork of a session",
  arrange,
  argv: ({ id, branch, requestId }) => [
    ...["fork", id ?? "", "--branch", branch, "--request-id", requestId, "--json"],
  ],
  check,
};
