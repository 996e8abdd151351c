import { describe, expect, test } from "vitest";
import { doctorSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld } from "../../support/world.ts";

const UNKNOWN = { agents: { app: "nosuch", web: "memory", shop: "other" } };

describe("an agent that nobody knows", () => {
  test("makes a configuration invalid, with its place and the agents there are", async () => {
    const { exitCode, stdout, stderr } = await memoryCli(aWorld(), ["config", "validate", "--json"], UNKNOWN);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(JSON.parse(stderr).error).toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(
        ':1: projects.app.agent must be one of memory, is "nosuch" (and 1 more)',
      ),
      details: { problems: [{ key: "projects.app.agent" }, { key: "projects.shop.agent" }] },
    });
  });

  test("is named in full for a person", async () => {
    const { stderr } = await memoryCli(aWorld(), ["config", "validate"], UNKNOWN);
    expect(stderr).toContain('  line 1: projects.shop.agent must be one of memory, is "other"\n');
  });

  test("fails the doctor's check of the configuration", async () => {
    const { exitCode, stdout } = await memoryCli(aWorld(), ["doctor", "--json"], UNKNOWN);
    expect(exitCode).toBe(1);
    expect(doctorSchema.parse(JSON.parse(stdout)).checks).toContainEqual(
      expect.objectContaining({
        name: "configuration",
        status: "fail",
        detail: expect.stringContaining("projects.app.agent must be one of memory"),
      }),
    );
  });

  test("is no matter of other commands", async () => {
    expect((await memoryCli(aWorld(), ["config", "show"], UNKNOWN)).exitCode).toBe(0);
    expect((await memoryCli(aWorld(), ["spawn"], UNKNOWN)).exitCode).toBe(0);
  });
});

test("a configuration that names known agents is valid", async () => {
  const { exitCode } = await memoryCli(aWorld(), ["config", "validate"], { agents: { app: "memory" } });
  expect(exitCode).toBe(0);
});
