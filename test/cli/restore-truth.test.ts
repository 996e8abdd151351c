import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openAo } from "../../src/compose.ts";
import type { SessionRecord } from "../../src/domain/session.ts";
import { restoreConfigured } from "../../src/lifecycle/configured-sessions.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { type Ao, aoSandbox } from "../support/ao.ts";

/** The agent whose death counts as one at birth however long it takes to work before. */
function slowToSettle(agent: Agent): Agent {
  return { ...agent, launch: (request) => ({ ...agent.launch(request), settleMs: 20_000 }) };
}

/** Restores a freed session on the real adapters, which has to fail; the code and the row afterwards. */
async function failedRestore(ao: Ao, cwd: string, id: string) {
  const opened = await openAo({ env: ao.env, cwd, access: "create" });
  try {
    const agents = new Map([...opened.deps.agents].map(([name, agent]) => [name, slowToSettle(agent)]));
    const row = (): SessionRecord | undefined => opened.deps.store.list().find((one) => one.id === id);
    const record = row();
    if (record === undefined) throw new Error(`no session ${id}`);
    const open = { ...opened, deps: { ...opened.deps, agents } };
    const failed = await restoreConfigured(open, record.id, { fresh: true }).then(
      () => ({ code: "none" }),
      (error) => error,
    );
    return { code: failed.code, left: failed.details?.left ?? [], metadata: row()?.metadata };
  } finally {
    opened.close();
  }
}

interface Trouble {
  /** What the agent does; it is a file of the sandbox. */
  readonly agent: string;
  /** Post-create commands. */
  readonly postCreate?: readonly string[];
}

test.each<[string, Trouble, string, boolean]>([
  ["an agent that ends at once", { agent: "exit 7" }, "agent_start_failed", false],
  ["an agent that leaves a file", { agent: "echo x > notes; exit 7" }, "agent_start_failed", true],
  [
    "post-create",
    { agent: "sleep 60", postCreate: ["echo half > half", "exit 3"] },
    "post_create_failed",
    false,
  ],
])(
  "a restore that fails by %s says truly whether there is a worktree",
  async (_what, trouble, code, stays) => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const agent = join(ao.root, "bin", "agent");
    mkdirSync(join(ao.root, "bin"));
    writeFileSync(agent, "#!/bin/sh\nexec sleep 60\n");
    chmodSync(agent, 0o755);
    const id = await ao.spawn(cwd, ["--agent", "shell", "--", agent]);
    const { exitCode } = await ao.run(["kill", id], { cwd });
    const path = join(ao.dataDir, "worktrees", "shop", id);
    expect({ exitCode, isThere: existsSync(path) }).toEqual({ exitCode: 0, isThere: false });
    writeFileSync(agent, `#!/bin/sh\n${trouble.agent}\n`);
    if (trouble.postCreate) {
      writeFileSync(join(ao.root, "ao.yaml"), `postCreate: ${JSON.stringify(trouble.postCreate)}\n`);
    }
    const failed = await failedRestore(ao, cwd, id);
    expect(failed.code).toBe(code);
    expect(existsSync(path)).toBe(stays);
    expect(failed.metadata?.workspaceFreedAtMs === null).toBe(stays);
    expect(failed.left).toMatchObject(stays ? [{ what: "worktree", where: path }] : []);
  },
);
