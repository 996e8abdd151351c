/** One thing that `ao doctor` looked at. */
export interface Check {
  readonly name: string;
  readonly status: "pass" | "warn" | "fail";
  readonly detail: string;
  /** What to do about it; `null` when nothing. */
  readonly fix: string | null;
}
