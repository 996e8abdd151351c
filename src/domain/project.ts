import type { ProjectId } from "./ids.ts";

/** A repository that `ao` knows. Its identity is the repository, not the name. */
export interface Project {
  readonly id: ProjectId;
  readonly name: string;
  /** Resolved path of the main working tree, or of the bare repository. */
  readonly repositoryPath: string;
  /** Prefix of its session ids. */
  readonly prefix: string;
  /** `null` means: ask git each time. */
  readonly defaultBranch: string | null;
  readonly createdAtMs: number;
}
