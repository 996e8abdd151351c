import type { ProcessTable } from "../../ports/process-table.ts";
import { linuxProcesses } from "./linux-processes.ts";
import { macProcesses } from "./mac-processes.ts";
import { processTableOf } from "./process-table-of.ts";

/** The process table of this machine: `/proc` on Linux, `ps` and `lsof` on macOS. */
export function systemProcessTable(): ProcessTable {
  return processTableOf(process.platform === "linux" ? linuxProcesses() : macProcesses());
}
