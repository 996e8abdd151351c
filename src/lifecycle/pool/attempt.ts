import { codeOf, errorMessage } from "../../domain/errors.ts";
import type { RecoveryError } from "../recovery/recovery.ts";

/** What some work came to, and what could not be done. */
export interface Attempted<Value> {
  readonly value: Value;
  readonly errors: readonly RecoveryError[];
}

/** Does work whose failure stops nothing else; it is told, and `otherwise` is what it came to. */
export async function attempt<Value>(
  subject: string,
  work: () => Promise<Value>,
  otherwise: Value,
): Promise<Attempted<Value>> {
  try {
    return { value: await work(), errors: [] };
  } catch (error) {
    const code = codeOf(error);
    return { value: otherwise, errors: [{ subject, code, message: errorMessage(error) }] };
  }
}
