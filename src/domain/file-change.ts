/** One file in which two states differ. */
export interface FileChange {
  /** Relative to the workspace; what is no UTF-8 shows as U+FFFD. */
  readonly path: string;
  readonly kind: "added" | "changed" | "deleted";
  /** Lines; `null` for a file that is no text. */
  readonly insertions: number | null;
  readonly deletions: number | null;
  /** Equal for equal content and mode; `null` for a file that is gone. */
  readonly content: string | null;
}
