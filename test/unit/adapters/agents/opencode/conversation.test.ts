import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { opencodeAgent } from "../../../../../src/adapters/agents/opencode/opencode-agent.ts";
import { positionOf } from "../../../../../src/adapters/agents/opencode/position.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { aLaunchRequest } from "../launch-request.ts";
import { importingProgram } from "./imports.ts";
import { CONVERSATION, fillDatabase, type RecordedRows, recordedRows, WORKSPACE } from "./recorded.ts";

function anAgent(rows: RecordedRows = recordedRows(), program = importingProgram) {
  const home = tempDir();
  fillDatabase(home, rows);
  const agent = opencodeAgent({ env: { HOME: home, PATH: program(home) } });
  const read = (id = CONVERSATION, workspacePath = WORKSPACE) =>
    agent.readConversation?.(id, { dataDir: home, workspacePath, home: null });
  return { home, agent, read };
}

describe("what opencode keeps of a conversation", () => {
  test("is told in its order, with how each turn ended", async () => {
    const entries = (await anAgent().read()) ?? [];
    expect(entries.map(({ role, text, edge }) => [role, text?.slice(0, 24), edge ?? null])).toEqual([
      ["user", "first prompt [[bash touc", "start"],
      ["tool", "bash touch made", null],
      ["assistant", "made it", null],
      ["system", "completed", "end"],
      ["user", "talk [[slow 60]]", "start"],
      ["assistant", "word0 word1 word2 word3 ", null],
      ["system", "interrupted", "end"],
      ["user", "deny [[bash touch /home/", "start"],
      ["tool", "bash touch /home/dev/out", null],
      ["system", "interrupted", "end"],
      ["user", "err [[err 400]]", "start"],
      ["system", "failed: fake 400", "end"],
      ["user", "two lines\nof it [[slow 6", "start"],
      ["assistant", "word0 word1 word2 word3 ", null],
      ["user", "steered", null],
      ["assistant", "Reply number 17", null],
      ["system", "completed", "end"],
    ]);
    const positions = entries.map(({ position }) => position);
    expect(positions).toEqual([...new Set(positions)].toSorted((one, other) => one - other));
    expect(positions.every(Number.isSafeInteger)).toBe(true);
    expect(entries.map(({ after }) => after)).toEqual([null, ...positions.slice(0, -1)]);
  });

  test("is a session's own only when it began in its workspace, and is no sub-agent's", async () => {
    const { agent, home } = anAgent();
    const has = (id: string, workspacePath: string) =>
      agent.hasConversation(id, { dataDir: home, workspacePath, home: null });
    expect(await has(CONVERSATION, WORKSPACE)).toBe(true);
    expect(await has(CONVERSATION, "/home/dev/other")).toBe(false);
    expect(await has(CONVERSATION.replace("ses_d", "ses_e"), WORKSPACE)).toBe(false);
    const rows = recordedRows();
    const child = { ...rows, session: rows.session.map((row) => ({ ...row, parent_id: "ses_parent000" })) };
    const other = anAgent(child);
    expect(
      await other.agent.hasConversation(CONVERSATION, {
        dataDir: other.home,
        workspacePath: WORKSPACE,
        home: null,
      }),
    ).toBe(false);
  });

  test("is none without a prompt, and cannot be read without a database", async () => {
    const { agent, home } = anAgent({ ...recordedRows(), message: [], part: [] });
    const where = { dataDir: home, workspacePath: WORKSPACE, home: null };
    expect(await agent.hasConversation(CONVERSATION, where)).toBe(false);
    const without = opencodeAgent({ env: { HOME: tempDir() } });
    expect(await without.readConversation?.(CONVERSATION, where)).toBeNull();
  });
});

test("a position grows with the time of its id, though the id keeps 48 bits of it alone", () => {
  const at = fc.tuple(fc.integer({ min: 1_600_000_000_000, max: 2_190_000_000_000 }), fc.nat(4095));
  const position = ([ms, count]: readonly [number, number]) => {
    const bits = BigInt.asUintN(48, BigInt(ms) * 4096n + BigInt(count));
    // A row is written somewhat after its id was made.
    return positionOf({ id: `prt_${bits.toString(16).padStart(12, "0")}abc`, createdMs: ms + (count % 50) });
  };
  fc.assert(
    fc.property(at, at, (one, other) => {
      const order = one[0] - other[0] || one[1] - other[1];
      expect(Math.sign(position(one) - position(other))).toBe(Math.sign(order));
    }),
  );
});

describe("a copy of it", () => {
  async function forkAt(index: number, program?: typeof importingProgram) {
    const { agent, home, read } = anAgent(recordedRows(), program);
    const before = (await read()) ?? [];
    const workspacePath = tempDir();
    const request = {
      source: { agentSessionId: CONVERSATION, workspacePath: WORKSPACE, home: null },
      home: null,
      throughPosition: before[index]?.position ?? 0,
      launch: aLaunchRequest({ workspacePath, launchDir: join(home, "launch") }),
    };
    if (agent.fork?.kind !== "prefix") throw new Error("it does not copy");
    const answer = await agent.fork.copy(request).catch((error: unknown) => String(error));
    return { answer, before, read, workspacePath, home, request };
  }

  test("holds what was said through a turn at the same positions, in the new workspace, and no more", async () => {
    const { answer, before, read, workspacePath, home, request } = await forkAt(6);
    expect(answer).toMatchObject({ kind: "accepted", inheritedThrough: request.throughPosition });
    const id = typeof answer === "object" && answer.kind === "accepted" ? answer.agentSessionId : "";
    expect(id).toMatch(/^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
    const copied = (await read(id, workspacePath)) ?? [];
    const said = ({ atMs: _at, ...entry }: (typeof copied)[number]) => entry;
    expect(copied.map(said)).toEqual(before.slice(0, 7).map(said));
    expect(await read()).toEqual(before);
    expect(readdirSync(join(home, "launch"))).toEqual([]);
  });

  test("is refused at a place that the conversation does not have", async () => {
    expect((await forkAt(99)).answer).toMatchObject({ kind: "refused" });
  });

  test("is refused, and nothing made, where opencode cannot be run", async () => {
    expect((await forkAt(6, () => "/nowhere")).answer).toMatchObject({
      ...{ kind: "refused", why: expect.stringContaining("made nothing") },
    });
  });

  test("that was left unfinished is in doubt", async () => {
    const dying = (home: string) => importingProgram(home, 2);
    expect((await forkAt(6, dying)).answer).toContain("unfinished");
  });
});
