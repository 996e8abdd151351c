import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { AoError } from "../../domain/errors.ts";
import { type ProjectId, parseProjectId } from "../../domain/ids.ts";
import { derivePrefix } from "../../domain/names.ts";
import type { ConfiguredProject } from "../../ports/config.ts";
import type { YamlFile } from "./read-yaml.ts";
import type { ProjectBlock, SharedFile } from "./schema.ts";

/** A project of a shared file: its identity and what was written for it. */
export interface BlockOfProject {
  readonly project: ConfiguredProject & { readonly id: ProjectId };
  readonly block: ProjectBlock;
}

function expandHome(path: string, home: string | undefined): string {
  if (path !== "~" && !path.startsWith("~/")) return path;
  return home ? join(home, path.slice(1)) : path;
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function assertDistinctPrefixes(yaml: YamlFile, blocks: readonly BlockOfProject[]): void {
  const owners = new Map<string, BlockOfProject["project"]>();
  for (const { project } of blocks) {
    const prefix = project.prefix ?? derivePrefix(basename(project.path));
    const other = owners.get(prefix);
    if (other) {
      const line = yaml.lineOf(["projects", project.id]);
      throw new AoError(
        "config_invalid",
        `${yaml.path}:${line}: projects ${other.id} and ${project.id} share the session prefix ${prefix}`,
        {
          hint: `give one of them a sessionPrefix of its own, for example sessionPrefix: ${project.id.slice(0, 31)}`,
        },
      );
    }
    owners.set(prefix, project);
  }
}

/**
 * The projects a shared file names, in its order; relative paths start at the file.
 *
 * @throws AoError config_invalid when two have the same session prefix.
 */
export function projectBlocks(
  yaml: YamlFile,
  file: SharedFile,
  home: string | undefined,
): readonly BlockOfProject[] {
  const blocks = Object.entries(file.projects).flatMap(([name, { path, ...block }]) => {
    const id = parseProjectId(name);
    if (id === undefined) return [];
    const absolute = resolved(resolve(dirname(yaml.path), expandHome(path, home)));
    const project = {
      id,
      name: block.name ?? name,
      path: absolute,
      prefix: block.sessionPrefix ?? null,
      defaultBranch: block.defaultBranch ?? null,
    };
    return [{ project, block }];
  });
  assertDistinctPrefixes(yaml, blocks);
  return blocks;
}
