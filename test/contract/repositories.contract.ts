import { describe, expect, test } from "vitest";
import type { Repositories } from "../../src/ports/repositories.ts";

/** A repositories port, and the folders of the world around it. */
export interface RepositoriesWorld {
  readonly repositories: Repositories;
  /** Main working tree of a repository. */
  readonly repository: string;
  /** A folder in it. */
  readonly subfolder: string;
  /** A bare repository. */
  readonly bare: string;
  /** A folder in no repository. */
  readonly outside: string;
}

/** What every `Repositories` owes its callers. */
export function repositoriesContract(name: string, open: () => RepositoriesWorld): void {
  describe(`${name} is a Repositories`, () => {
    test("finds the repository of its own folder and of one below", async () => {
      const { repositories, repository, subfolder } = open();
      const found = await repositories.find(repository);
      expect(found).toEqual({ path: repository, bare: false });
      expect(await repositories.find(subfolder)).toEqual(found);
    });

    test("finds a bare one", async () => {
      const { repositories, bare } = open();
      expect(await repositories.find(bare)).toMatchObject({ path: bare, bare: true });
    });

    test("finds none where there is none, nor in a folder that is not there", async () => {
      const { repositories, outside } = open();
      expect(await repositories.find(outside)).toBeUndefined();
      expect(await repositories.find(`${outside}/missing`)).toBeUndefined();
    });
  });
}
