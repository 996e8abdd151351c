import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { run } from "./measure.ts";
import type { Measured, Row } from "./row.ts";
import { measureApart, tellMeasured } from "./row-process.ts";
import { ROWS } from "./rows.ts";
import { POOL_ROW } from "./spawn.ts";
import { ticksRow } from "./ticks.ts";

interface Line extends Measured {
  readonly name: string;
  readonly value: number;
  readonly atMost: number;
  readonly unit: Row["unit"];
  readonly isWithin: boolean;
}

interface Report {
  readonly at: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly rows: readonly Line[];
}

function lineOf({ name, atMost, unit }: Row, { product, floor }: Measured): Line {
  const value = floor === null ? product.medianMs : product.medianMs / floor.medianMs;
  return { name, value, atMost, unit, isWithin: value <= atMost, product, floor };
}

function machine(): Report["machine"] {
  const version = (argv: readonly string[]) => run(argv).stdout.trim();
  return {
    ...{ node: process.version, git: version(["git", "--version"]), tmux: version(["tmux", "-V"]) },
    ...{ processors: cpus().length, processor: cpus()[0]?.model ?? "unknown" },
  };
}

/** What still runs then is ended; the rest of ten minutes is for taking it down. */
const MAX_MS = 8 * 60_000;
const ROW_MAX_MS = 90_000;

const spread = ({ medianMs, minMs, maxMs, runs }: Measured["product"]) =>
  `${medianMs.toFixed(1)} (${minMs.toFixed(1)}-${maxMs.toFixed(1)}, ${runs} runs)`;

function textOf(
  { name, value, atMost, unit, isWithin, product, floor }: Line,
  before: Line | undefined,
): string {
  const change = before === undefined ? "" : ` | before ${before.value.toFixed(2)}`;
  const beside = floor === null ? "" : ` | floor ${spread(floor)}`;
  const verdict = isWithin ? "ok  " : "OVER";
  return `${verdict} ${name}: ${value.toFixed(2)} ${unit}, at most ${atMost} | ${spread(product)}${beside}${change}`;
}

function tell(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function bench(): Promise<void> {
  const { values } = parseArgs({
    options: {
      compare: { type: "string" },
      only: { type: "string" },
      ticks: { type: "string", default: "1000" },
      out: { type: "string", default: ".bench/latest.json" },
      row: { type: "string" },
    },
  });
  const rows = [...ROWS, ticksRow(Number(values.ticks)), POOL_ROW];
  if (values.row !== undefined) return tellMeasured(rows, values.row);
  const before: Report | undefined = values.compare && JSON.parse(readFileSync(values.compare, "utf8"));
  const lines: Line[] = [];
  const endMs = performance.now() + MAX_MS;
  for (const row of rows.filter(({ name }) => name.includes(values.only ?? ""))) {
    const limitMs = Math.min(row.limitMs ?? ROW_MAX_MS, endMs - performance.now());
    const measured = await measureApart(row.name, { limitMs, ticks: values.ticks });
    if (measured.kind === "none") {
      tell(`NONE ${row.name}: ${measured.why}`);
      process.exitCode = 1;
      continue;
    }
    const line = lineOf(row, measured);
    lines.push(line);
    tell(
      textOf(
        line,
        before?.rows.find(({ name }) => name === line.name),
      ),
    );
  }
  const report: Report = { at: new Date().toISOString(), machine: machine(), rows: lines };
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
  tell(`written to ${values.out}`);
}

await bench();
