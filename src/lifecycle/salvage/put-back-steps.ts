import { jsonMembers } from "../../domain/canonical-json.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import { notMade } from "../../domain/special-files.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { operationLedger } from "../operations/ledger.ts";
import { workspaceRef } from "../session-refs.ts";
import { sessionOfFiles } from "./change-files.ts";

export interface PutBackResult {
  readonly id: SessionId;
  readonly ref: string;
  /** How many files were written or removed. */
  readonly files: number;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/** Everything of a put-back after its intent is on record. May be repeated. */
export async function finishPutBack(deps: SessionDeps, held: LeasedOperation): Promise<PutBackResult> {
  const record = sessionOfFiles(deps, held);
  const ref = String(jsonMembers(held.input)?.["ref"]);
  const request = { workspace: workspaceRef(record), ref, fence: fenceOf(deps, held) };
  const { files, missing = [] } = await crossing(deps, "put_back.files", () =>
    deps.snapshots.putBack(request),
  );
  const warnings = missing.length === 0 ? [] : [notMade(missing)];
  const result = { id: record.id, ref, files, warnings };
  await crossing(deps, "put_back.complete", () => operationLedger(deps).complete(held, result));
  return result;
}
