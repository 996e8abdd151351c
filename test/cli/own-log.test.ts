import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { listSchema, showSchema } from "../support/json-schemas.ts";

const BY_LOG = { source: "native", confidence: "high" };

/** A sandbox in whose inbox no hook can leave anything. */
function withoutHooks(): Ao {
  const ao = aoSandbox();
  mkdirSync(join(ao.dataDir, "inbox"), { recursive: true, mode: 0o700 });
  writeFileSync(join(ao.dataDir, "inbox", "tmp"), "", { mode: 0o600 });
  return ao;
}

const shown = (ao: Ao, id: string) => ao.json(showSchema, ["show", id]);

test("an agent whose hooks arrive nowhere is read from its own log, and not from what it said before a restore", async () => {
  const ao = withoutHooks();
  const id = await ao.spawn(ao.repository(), ["--prompt", "ask which colour?"]);
  await ao.until(id, "needs_input");
  expect(await shown(ao, id)).toMatchObject({
    facts: {
      session: { state: "needs_input", source: "native" },
      activity: { state: "waiting_input", ...BY_LOG },
    },
  });
  ao.tmux("send-keys", "-t", ao.tmux("list-panes", "-a", "-F", "#{pane_id}"), "blue", "Enter");
  await ao.until(id, "idle");
  expect((await shown(ao, id)).facts.activity).toMatchObject({ state: "ready", ...BY_LOG });

  expect(await ao.run(["kill", id])).toMatchObject({ exitCode: 0 });
  expect(await ao.run(["restore", id])).toMatchObject({ exitCode: 0 });
  const { data } = await ao.json(listSchema, ["list", "-a"]);
  expect(data[0]?.status).toBe("spawning");
  expect((await shown(ao, id)).facts.activity).toMatchObject({ state: null, source: "none" });
}, 60_000);
