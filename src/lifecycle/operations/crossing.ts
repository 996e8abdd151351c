import type { FaultPoint } from "../../ports/fault-point.ts";

/** Does one step of an operation between its two durable boundaries, `<name>:before` and `<name>:after`. */
export async function crossing<Result>(
  { boundary }: { readonly boundary: FaultPoint },
  name: string,
  step: () => Promise<Result> | Result,
): Promise<Result> {
  await boundary(`${name}:before`);
  const result = await step();
  await boundary(`${name}:after`);
  return result;
}
