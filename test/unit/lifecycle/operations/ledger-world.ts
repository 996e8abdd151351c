import { type MemoryClock, memoryClock } from "../../../../src/adapters/memory/clock.ts";
import { memoryIds } from "../../../../src/adapters/memory/ids.ts";
import {
  type MemoryProcessTable,
  memoryProcessTable,
} from "../../../../src/adapters/memory/process-table.ts";
import { memoryStore } from "../../../../src/adapters/memory/store.ts";
import type { LeasedOperation, Operation, OperationId } from "../../../../src/domain/operation.ts";
import type { ProcessIdentity } from "../../../../src/domain/session.ts";
import { type OperationLedger, operationLedger } from "../../../../src/lifecycle/operations/ledger.ts";
import type { LedgerDeps } from "../../../../src/lifecycle/operations/ledger-deps.ts";
import type { PrepareRequest } from "../../../../src/lifecycle/operations/prepare-operation.ts";
import type { Store } from "../../../../src/ports/store.ts";
import { projectId, sessionId, T0_MS } from "../../../support/builders.ts";

/** One running `ao` and its ledger. */
export interface Worker {
  readonly process: ProcessIdentity;
  readonly deps: LedgerDeps;
  readonly ledger: OperationLedger;
  /** Ends the process as `kill -9` does. */
  die(): void;
}

export interface LedgerWorld {
  readonly store: Store;
  readonly clock: MemoryClock;
  readonly processes: MemoryProcessTable;
  /** Starts another `ao` on the same store; `patch` replaces parts of what it works with. */
  worker(command?: string, patch?: Partial<LedgerDeps>): Worker;
  /** The row of an operation. */
  row(id: OperationId): Operation | undefined;
  /** The types of all changes so far. */
  changes(): readonly string[];
}

/** A store, a clock at `T0_MS` and a process table for any number of workers. */
export function aLedgerWorld(): LedgerWorld {
  const store = memoryStore();
  const clock = memoryClock(T0_MS);
  const processes = memoryProcessTable();
  const ids = memoryIds();

  return {
    ...{ store, clock, processes },
    worker(command = "ao kill app-1", patch = {}) {
      const process = processes.add({ command });
      const self = { process, command };
      const { sessions, operations, changes } = store;
      const deps = { store: sessions, operations, changes, processes, clock, ids, self, ...patch };
      return { process, deps, ledger: operationLedger(deps), die: () => processes.kill(process.pid) };
    },
    row: (id) => store.operations.get(id),
    changes: () => store.changes.after(0, 1_000).map(({ type }) => type),
  };
}

/** The kill of session `app-1` that request `request-1` asks for; identified by the session that is named. */
export function aPrepareRequest(
  overrides: Partial<Omit<PrepareRequest, "sessionId" | "identifyingSessionId">> & {
    readonly sessionId?: string | null;
    readonly makesSession?: boolean;
  } = {},
): PrepareRequest {
  const { sessionId: text = "app-1", makesSession = false, ...rest } = overrides;
  const id = text === null ? null : sessionId(text);
  return {
    kind: "kill",
    projectId: projectId("app"),
    sessionId: id,
    identifyingSessionId: makesSession ? null : id,
    subject: "request-1",
    input: { reason: "manual" },
    progress: null,
    ...rest,
  };
}

/** The operation that `request` begins; a test where it does not fails. */
export function begun({ ledger }: Worker, request: PrepareRequest = aPrepareRequest()): LeasedOperation {
  const outcome = ledger.begin(request);
  if (outcome.kind === "begun") return outcome.operation;
  throw new Error(`not begun but ${outcome.kind}`);
}

/** The operation that `request` prepares; a test where it does not fails. */
export function prepared({ ledger }: Worker, request: PrepareRequest = aPrepareRequest()): Operation {
  const outcome = ledger.prepare(request);
  if (outcome.kind === "created") return outcome.operation;
  throw new Error(`not created but ${outcome.kind}`);
}

/** What `claim` took; a test where it took nothing fails. */
export async function claimed({ ledger }: Worker, id: OperationId): Promise<LeasedOperation> {
  const decision = await ledger.claim(id);
  if (decision.kind === "claimed") return decision.operation;
  throw new Error(`not claimed but ${decision.kind}`);
}
