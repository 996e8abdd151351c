import { describe, expect, test } from "vitest";
import {
  parseLsofPaths,
  parseMarkedPids,
  parsePsRows,
} from "../../../../src/adapters/processes/mac-output.ts";

const PS_ROWS = [
  "    1     0 Ss   Mon Nov 30 08:01:02 2026     launchd",
  "  512     1 S    Tue Dec  1 09:03:04 2026     Google Chrome He",
  "99999   512 R+   Wed Dec  2 10:11:12 2026     a) Z 1 (b",
  "  700   512 Z    Wed Dec  2 10:11:13 2026     (node)",
  "  701   512 ?Es  Wed Dec  2 10:11:14 2026     ",
  "ps: something went wrong",
  "",
].join("\n");

describe("parsePsRows", () => {
  test("reads one row a line, with start times that do not depend on padding", () => {
    expect(parsePsRows(PS_ROWS)).toEqual([
      { pid: 1, parentPid: 0, startTime: "Mon Nov 30 08:01:02 2026", dead: false, command: "launchd" },
      {
        pid: 512,
        parentPid: 1,
        startTime: "Tue Dec 1 09:03:04 2026",
        dead: false,
        command: "Google Chrome He",
      },
      { pid: 99999, parentPid: 512, startTime: "Wed Dec 2 10:11:12 2026", dead: false, command: "a) Z 1 (b" },
      { pid: 700, parentPid: 512, startTime: "Wed Dec 2 10:11:13 2026", dead: true, command: "(node)" },
      { pid: 701, parentPid: 512, startTime: "Wed Dec 2 10:11:14 2026", dead: false, command: "" },
    ]);
  });
});

describe("parseMarkedPids", () => {
  const marker = { name: "AO_LAUNCH_ID", value: "l-1" };

  test.each([
    ["at the end", "  512 sleep 600 HOME=/Users/x AO_LAUNCH_ID=l-1", [512]],
    ["in the middle", "  512 sleep 600 AO_LAUNCH_ID=l-1 TERM=xterm", [512]],
    ["of a longer value", "  512 sleep 600 AO_LAUNCH_ID=l-10", []],
    ["of a longer name", "  512 sleep 600 MY_AO_LAUNCH_ID=l-1", []],
    ["of another process", "  512 sleep 600 AO_LAUNCH_ID=l-2\n 7 sleep AO_LAUNCH_ID=l-1\n", [7]],
    ["nowhere", "  512 (sleep)\n", []],
  ])("finds a marker %s", (_where, output, expected) => {
    expect([...parseMarkedPids(output, [marker])]).toEqual(expected);
  });

  test("finds only what has all of several markers", () => {
    const other = { name: "AO_SESSION_ID", value: "app-1" };
    const output =
      "1 a AO_LAUNCH_ID=l-1 AO_SESSION_ID=app-1\n2 a AO_LAUNCH_ID=l-1\n3 a AO_SESSION_ID=app-1\n";
    expect([...parseMarkedPids(output, [marker, other])]).toEqual([1]);
  });
});

/** In the form of lsof 4.95: a shell that writes into a file, a Node process that listens, one that hides. */
const LSOF = `p512
fcwd
n/Users/x/a b
frtd
n/
ftxt
n/bin/bash
f0
n/dev/null
f1
n/Users/x/wt/build.log
p513
fcwd
n/Users/x
ftxt
n/usr/local/bin/node
fmem
n/Users/x/wt/node_modules/better_sqlite3.node
f20
nTCP *:3000 (LISTEN)
f21
n->0x1f2a
f22
ntype=STREAM
p514
fcwd
`;

describe("parseLsofPaths", () => {
  test("reads what each process uses, and leaves out what is no path", () => {
    expect([...parseLsofPaths(LSOF)]).toEqual([
      [512, ["/Users/x/a b", "/", "/bin/bash", "/dev/null", "/Users/x/wt/build.log"]],
      [513, ["/Users/x", "/usr/local/bin/node", "/Users/x/wt/node_modules/better_sqlite3.node"]],
      [514, []],
    ]);
  });

  test.each([
    ["letters beyond ASCII", String.raw`/tmp/\xc3\xa9`, "/tmp/é"],
    ["a backslash", String.raw`/tmp/a\\x41`, String.raw`/tmp/a\x41`],
    ["a newline and a tab", String.raw`/tmp/a\nb\tc`, "/tmp/a\nb\tc"],
  ])("undoes what lsof makes of %s", (_what, shown, path) => {
    expect(parseLsofPaths(`p7\nfcwd\nn${shown}\n`).get(7)).toEqual([path]);
  });
});
