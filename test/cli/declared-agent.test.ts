import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AO, aoSandbox } from "../support/ao.ts";
import { agentsSchema, doctorSchema, outputSchema, sendSchema } from "../support/json-schemas.ts";

/** It loses what comes before it is ready, as many do, and says what it was told then. */
const PROGRAM = `#!/bin/sh
[ "$1" = --version ] && { echo "scripted 2.5.0"; exit 0; }
stty -echo
sleep 1
while read -r -t 0 lost 2>/dev/null; do read -r lost; done
printf 'scripted> \\n'
while IFS= read -r line; do printf 'told: %s\\nscripted> \\n' "$line"; done
`;

test("an agent that only the configuration knows gets its prompt once it is ready, and is known everywhere then", async () => {
  const ao = aoSandbox();
  const repository = ao.repository();
  const program = join(ao.root, "scripted");
  writeFileSync(program, PROGRAM);
  chmodSync(program, 0o755);
  writeFileSync(
    join(repository, "ao.yaml"),
    `agents:
  scripted:
    command: [${program}]
    screen: { ready: ["^scripted>$"] }
    tested: { from: "1.0", to: "2.4", on: "2026-11-30" }
agent: scripted
`,
  );
  const id = await ao.spawn(repository, ["--prompt", "first words"]);
  await expect
    .poll(async () => (await ao.json(outputSchema, ["output", id])).lines.join("\n"))
    .toContain("told: first words");

  const { data } = await ao.json(agentsSchema, ["agents"], { cwd: ao.root });
  expect(data.find(({ name }) => name === "scripted")).toMatchObject({
    ...{ installed: true, version: "2.5.0", isTested: false, default: false },
    capabilities: { firstPrompt: "message", showsReadiness: true, resume: false },
  });
  expect(data.find(({ name }) => name === "gemini")).toMatchObject({ profile: { tested: null } });
  const { checks } = JSON.parse((await ao.run(["doctor", "--json"])).stdout) as { checks: unknown };
  const found = doctorSchema.parse({ checks }).checks.find(({ name }) => name === "agent scripted");
  expect(found).toMatchObject({ status: "warn", detail: expect.stringContaining("1.0 to 2.4") });
  expect((await ao.run(["agents"], { cwd: ao.root })).stdout).toContain("2.5.0 (untested)");
});

test("a shell that an agent leaves in its place, as the same process, is not typed to", async () => {
  const ao = aoSandbox();
  const repository = ao.repository();
  const hook = (event: string) => `${process.execPath} ${AO} hooks scripted ${event} </dev/null`;
  const script = `printf 'scripted> \\n'; ${hook("ready")}; read -r line; ${hook("exited")}; PS1='bare> ' exec sh -i`;
  const agent = { command: ["sh", "-c", script], hooks: ["ready", "exited"] };
  writeFileSync(
    join(repository, "ao.yaml"),
    JSON.stringify({ agent: "scripted", agents: { scripted: agent } }),
  );
  const id = await ao.spawn(repository);
  await ao.until(id, "idle");
  const pane = (format: string) => ao.tmux("list-panes", "-a", "-F", `#{${format}}`);
  const pid = pane("pane_pid");
  ao.tmux("send-keys", "-t", pane("pane_id"), "bye", "Enter");
  const shows = async () => (await ao.json(outputSchema, ["output", id])).lines.join("\n");
  await expect.poll(shows, { timeout: 20_000 }).toContain("bare>");
  expect(pane("pane_pid")).toBe(pid);
  for (let tick = 1; tick <= 2; tick++) await ao.run(["reconcile"]);
  expect(await ao.json(sendSchema, ["send", id, "touch typed", "--timeout", "1s"])).toMatchObject({
    state: "queued",
  });
  expect(await shows()).not.toContain("touch");
});
