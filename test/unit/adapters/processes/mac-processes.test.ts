import { describe, expect, test } from "vitest";
import { macProcesses } from "../../../../src/adapters/processes/mac-processes.ts";
import { processTableOf } from "../../../../src/adapters/processes/process-table-of.ts";

const BOOT_ID = "C0FFEE00-0000-4000-8000-000000000000";
const STARTED = "Tue Dec 1 09:03:04 2026";
const PS_ROWS = `  1 0 Ss Tue Dec  1 09:00:00 2026 launchd
 512 1 S Tue Dec  1 09:03:04 2026 tmux
 513 512 S Tue Dec  1 09:03:04 2026 zsh
 514 1 S Tue Dec  1 09:03:05 2026 sleep
 515 512 Z Tue Dec  1 09:03:06 2026 (node)
`;
const PS_MARKED = `  1 /sbin/launchd
 514 sleep 600 AO_LAUNCH_ID=l-1
`;
const LSOF =
  "p512\nfcwd\nn/Users/x\np513\nfcwd\nn/Users/x/wt/src\nf1\nn/Users/x/wt/a.log\np515\nfcwd\nn/Users/x/wt\n";

type Answer = string | Error;

/** The table over programs that print what is given, and a log of what was run. */
function aTable(answers: { readonly sysctl?: Answer; readonly ps?: Answer; readonly lsof?: Answer } = {}) {
  const ran: string[] = [];
  const table = processTableOf(
    macProcesses(async (program, args) => {
      ran.push([program, ...args].join(" "));
      const isMarked = args.includes("-axwwE");
      const known = { sysctl: `${BOOT_ID}\n`, ps: isMarked ? PS_MARKED : PS_ROWS, lsof: LSOF, ...answers };
      const answer = Object.entries(known).find(([name]) => name === program)?.[1] ?? new Error("not found");
      if (answer instanceof Error) throw answer;
      return answer;
    }),
  );
  return { table, ran };
}

const tmux = { pid: 512, startTime: STARTED, bootId: BOOT_ID };

describe("macProcesses", () => {
  test("many processes are looked at with one ps, and the boot id is asked for once", async () => {
    const { table, ran } = aTable();
    const zombie = { ...tmux, pid: 515, startTime: "Tue Dec 1 09:03:06 2026" };
    const identities = [tmux, { ...tmux, pid: 9 }, { ...tmux, startTime: "earlier" }, zombie];
    const facts = await table.look(identities);
    await table.look(identities);
    expect(facts.map(({ kind }) => kind)).toEqual(["alive", "dead", "dead", "dead"]);
    expect(ran.map((command) => command.split(" ")[0])).toEqual(["sysctl", "ps", "ps"]);
  });

  test("each keyword of ps has an option of its own, as a header would take the rest", async () => {
    const { table, ran } = aTable();
    await table.identify(512);
    expect(ran[0]).toBe("ps -axww -o pid= -o ppid= -o stat= -o lstart= -o ucomm=");
  });

  test("a family is found by descent and by the environment that ps shows", async () => {
    const { table } = aTable();
    const family = await table.family(tmux, { name: "AO_LAUNCH_ID", value: "l-1" });
    expect(family.map(({ pid }) => pid)).toEqual([512, 513, 514]);
  });

  test("users of a folder come from one lsof", async () => {
    const { table, ran } = aTable();
    const paths = ["/Users/x/wt/src", "/Users/x/wt/a.log"];
    expect(await table.usersOf("/Users/x/wt")).toEqual([{ pid: 513, command: "zsh", paths }]);
    expect(ran.filter((command) => command.startsWith("lsof"))).toEqual(["lsof -w -n -P -F pn"]);
  });

  test.each([
    ["ps fails", { ps: new Error("ps: killed") }, "ps: killed"],
    ["ps lists nobody", { ps: "garbage" }, "ps listed no process"],
    ["sysctl fails", { sysctl: new Error("sysctl: unknown oid") }, "sysctl: unknown oid"],
  ])("a look when %s is a failed probe", async (_when, answers, cause) => {
    const { table } = aTable(answers);
    expect(await table.look([tmux])).toEqual([{ kind: "probe_failed", cause }]);
    await expect(table.family(tmux, { name: "A", value: "b" })).rejects.toMatchObject({
      code: "runtime_unavailable",
    });
  });

  test("without lsof nobody can say who uses a folder", async () => {
    const { table } = aTable({ lsof: new Error("lsof: command not found") });
    await expect(table.usersOf("/Users/x/wt")).rejects.toMatchObject({
      code: "runtime_unavailable",
      message: "the process table could not be read: lsof: command not found",
    });
  });
});
