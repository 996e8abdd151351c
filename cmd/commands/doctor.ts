import type { Command } from "commander";
import { printable } from "../../src/domain/printable.ts";
import type { Color } from "../color.ts";
import type { Check } from "../doctor-check.ts";
import { runChecks } from "../doctor-checks.ts";
import { jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";

const COLORS = { pass: "green", warn: "yellow", fail: "red" } as const satisfies Record<
  Check["status"],
  Color
>;

async function doctor(invocation: Invocation, flags: { readonly fix: boolean }): Promise<number> {
  const checks = await runChecks(invocation, flags.fix);
  await invocation.print({ checks }, () =>
    checks.flatMap(({ name, status, detail, fix }) => [
      `${invocation.paint(COLORS[status], status.toUpperCase().padEnd(4))}  ${name}: ${printable(detail)}`,
      ...(fix === null ? [] : [`      fix: ${printable(fix)}`]),
    ]),
  );
  return checks.some(({ status }) => status === "fail") ? 1 : 0;
}

/** `ao doctor`. */
export function doctorCommand(host: Host): Command {
  return host
    .command({
      usage: "doctor",
      purpose: "Check git, tmux, Node, the agents, the data directory and the store",
      more: "The exit code is 1 when a check fails; warnings do not count.",
      examples: [
        ["ao doctor", "what works, what does not, and what to do about it"],
        ["ao doctor --fix", "make the data directory, and close it to other users"],
      ],
    })
    .addOption(switchOption("--fix", "repair what can be repaired without a question"))
    .addOption(jsonOption())
    .action(host.action(doctor));
}
