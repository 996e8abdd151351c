/** Something in the trash that could not be deleted. */
export interface LeftInTrash {
  readonly path: string;
  /** One clause. */
  readonly why: string;
}

/** What a sweep of the trash came to. */
export interface SweptTrash {
  /** Removed workspaces whose files it deleted. */
  readonly deleted: number;
  /** What resists; the next sweep tries it again. Nothing that vanished meanwhile. */
  readonly left: readonly LeftInTrash[];
}
