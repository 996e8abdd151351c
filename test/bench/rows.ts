import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOOK_SCRIPT } from "../../src/domain/hook-script.ts";
import { deriveStatus } from "../../src/domain/status.ts";
import { aSession, aWorkingLifecycle } from "../support/builders.ts";
import { crowd } from "./crowd.ts";
import { durationOf, inTurns, run, summarize, USUAL } from "./measure.ts";
import { nodeStart } from "./place.ts";
import { inPlace, type Measured, NODE, type Row, SHELL } from "./row.ts";
import { SPAWN_FLOOR, spawnOf } from "./spawn.ts";

function listOf(total: number, live: number): () => Promise<Measured> {
  return () =>
    inPlace(async (place) => {
      await crowd(place, { total, live });
      return inTurns({ product: () => place.ao(["list", "-a", "--json"]).tookMs, floor: nodeStart });
    });
}

/** A list of many beside one of a tenth: at most ten times as long when cost grows with the number alone. */
function growthOfList(many: number): () => Promise<Measured> {
  const argv = ["list", "-a", "--json"];
  return () =>
    inPlace((large) =>
      inPlace(async (small) => {
        await crowd(large, { total: many, live: 0 });
        await crowd(small, { total: many / 10, live: 0 });
        return inTurns({ product: () => large.ao(argv).tookMs, floor: () => small.ao(argv).tookMs });
      }),
    );
}

function killOne(): Promise<Measured> {
  return inPlace(async (place) => {
    const cwd = place.repository(10);
    const socket = join(place.root, "floor.sock");
    const product = () => {
      const { stdout } = place.ao(["spawn", "--json", ...SHELL, "sleep", "600"], { cwd });
      const { id } = JSON.parse(stdout);
      return place.ao(["kill", id]).tookMs;
    };
    const floor = () => {
      run(["tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", "-s", "floor", "sleep 600"]);
      return run(["tmux", "-S", socket, "kill-session", "-t", "=floor"]).tookMs + nodeStart();
    };
    return inTurns({ product, floor });
  });
}

function reconcileOf(live: number): () => Promise<Measured> {
  return () =>
    inPlace(async (place) => {
      const socket = await crowd(place, { total: live, live });
      const list = ["tmux", "-S", socket, "list-panes", "-a", "-F", "#{session_id} #{pane_pid}"];
      const floor = () => run(list).tookMs + nodeStart();
      return inTurns({ product: () => place.ao(["reconcile", "--json"]).tookMs, floor });
    });
}

/** Many runs in one shell, so that the start of the measuring process is not in it. */
function hookEvent(): Promise<Measured> {
  return inPlace(async (place) => {
    const count = 200;
    const script = join(place.root, "hook");
    const body = join(place.root, "body");
    mkdirSync(place.dataDir, { mode: 0o700 });
    writeFileSync(script, HOOK_SCRIPT);
    writeFileSync(body, JSON.stringify({ session_id: "x", tool_input: "y".repeat(500) }));
    const env = { ...place.env, AO_SESSION_ID: "app-1", AO_LAUNCH_ID: "launch-1" };
    const loop = (command: string) => {
      const text = `i=0; while [ $i -lt ${count} ]; do ${command}; i=$((i+1)); done`;
      return run(["sh", "-c", text, "sh", script, body], { env }).tookMs / count;
    };
    const product = () => loop('sh "$1" codex Stop <"$2"');
    return inTurns({ product, floor: () => loop('sh -c : <"$2"') });
  });
}

async function derive(): Promise<Measured> {
  const records = Array.from({ length: 100_000 }, (_, index) =>
    aSession({ id: `app-${index + 1}`, lifecycle: aWorkingLifecycle() }),
  );
  const times: number[] = [];
  for (let round = 0; round < USUAL.runs; round++) {
    times.push(await durationOf(() => records.map(({ lifecycle }) => deriveStatus(lifecycle))));
  }
  return { product: summarize(times), floor: null };
}

/** Each round in a repository of its own; the spawns of a round are one shell's children. */
function manySpawns(count: number): () => Promise<Measured> {
  const round = (joint: string, end: string) =>
    inPlace(async (place) => {
      const cwd = place.repository(10);
      const text = `i=0; while [ $i -lt ${count} ]; do "$@"${joint} i=$((i+1)); done; ${end}`;
      const [node, program] = [process.execPath, place.program];
      const argv = ["sh", "-c", text, "sh", node, program, "spawn", ...SHELL, "sleep", "600"];
      return run(argv, { cwd, env: place.env }).tookMs;
    });
  const work = { product: () => round(" &", "wait"), floor: () => round(";", ":") };
  return () => inTurns(work, { warmups: 0, runs: 2, budgetMs: 30_000 });
}

function eventsWaiting(count: number): () => Promise<Measured> {
  return () =>
    inPlace(async (place) => {
      await crowd(place, { total: 1, live: 1 });
      const folder = join(place.dataDir, "inbox", "new");
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const head = "ao-hook 1\nsession app-1\nlaunch launch-app-1\nagent shell\nevent Stop\n";
      for (let index = 0; index < count; index++) {
        writeFileSync(join(folder, `e${index}`), `${head}time ${Date.now() + index}\n\n{"n":${index}}`);
      }
      // Not in turns: the first read takes the events away.
      return { product: summarize([place.ao(["reconcile", "--json"]).tookMs]), floor: null };
    });
}

/** Peak memory as the process itself reads it at its end, in MB in the place of milliseconds. */
function memoryOfList(total: number, argv: readonly string[]): () => Promise<Measured> {
  return () =>
    inPlace(async (place) => {
      await crowd(place, { total, live: 0 });
      const report = join(place.root, "peak");
      const hook = join(place.root, "peak.mjs");
      const write = `writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS / 1024))`;
      writeFileSync(hook, `import { writeFileSync } from "node:fs"; process.on("exit", () => ${write});`);
      const env = { ...place.env, NODE_OPTIONS: `--import=${hook}` };
      const peaks = Array.from({ length: 3 }, () => {
        place.ao(["list", "-a", ...argv], { env });
        return Number(readFileSync(report, "utf8"));
      });
      return { product: summarize(peaks), floor: null };
    });
}

/** Five hundred tmux sessions are started one after the other before anything is measured. */
const CROWD_MAX_MS = 150_000;

/** The table of what fast means. */
export const ROWS: readonly Row[] = [
  {
    name: "list of 1,000 sessions, 500 live",
    floor: NODE,
    atMost: 2,
    unit: "times the floor",
    limitMs: CROWD_MAX_MS,
    measure: listOf(1000, 500),
  },
  {
    ...{ name: "spawn in 2,000 files, until its agent runs", floor: SPAWN_FLOOR },
    ...{ atMost: 1.8, unit: "times the floor", measure: () => spawnOf(2000) },
  },
  {
    ...{ name: "kill of a clean session", floor: `tmux kill-session + ${NODE}` },
    ...{ atMost: 2.5, unit: "times the floor", measure: killOne },
  },
  {
    ...{ name: "reconcile over 500 live sessions", floor: `tmux list-panes -a + ${NODE}` },
    ...{ atMost: 3, unit: "times the floor", limitMs: CROWD_MAX_MS, measure: reconcileOf(500) },
  },
  { name: "one hook event", floor: "sh -c :", atMost: 4, unit: "times the floor", measure: hookEvent },
  { name: "status of 100,000 records", floor: "none", atMost: 50, unit: "ms", measure: derive },
  {
    ...{ name: "50 spawns at once", floor: "50 in a row", atMost: 1, unit: "times the floor" },
    measure: manySpawns(50),
  },
  {
    ...{ name: "10,000 hook events read", floor: "none", atMost: 1500, unit: "ms" },
    measure: eventsWaiting(10_000),
  },
  { name: "list of 100 sessions", floor: NODE, atMost: 2, unit: "times the floor", measure: listOf(100, 0) },
  {
    name: "list of 10,000 sessions",
    floor: NODE,
    atMost: 20,
    unit: "times the floor",
    measure: listOf(10_000, 0),
  },
  {
    ...{ name: "list of 1,000 beside one of 100", floor: "list of 100", atMost: 10 },
    ...{ unit: "times the floor", measure: growthOfList(1000) },
  },
  {
    ...{ name: "list of 10,000 beside one of 1,000", floor: "list of 1,000", atMost: 10 },
    ...{ unit: "times the floor", measure: growthOfList(10_000) },
  },
  {
    ...{ name: "memory of a list of 10,000 as JSON", floor: "none", atMost: 120, unit: "MB" },
    measure: memoryOfList(10_000, ["--json"]),
  },
  {
    ...{ name: "memory of a list of 10,000 for a person", floor: "none", atMost: 120, unit: "MB" },
    measure: memoryOfList(10_000, []),
  },
];
