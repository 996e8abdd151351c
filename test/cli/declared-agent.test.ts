import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aoSandbox } from "../support/ao.ts";
import { agentsSchema, doctorSchema, outputSchema } from "../support/json-schemas.ts";

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
