import type { ObjectFormat } from "./index-file.ts";
import type { Plumbing } from "./plumbing.ts";

/** What of a repository's configuration the files of a worktree depend on. */
export interface RepositorySettings {
  /** The hash of its objects. */
  readonly format: ObjectFormat;
  /** `core.autocrlf` is on: line ends are converted where no attribute says otherwise. */
  readonly autocrlf: boolean;
}

const NAMES = "^(core\\.autocrlf|extensions\\.objectformat)$";

/** Reads them; of a name that is set twice the last counts. */
export async function readSettings(plumbing: Plumbing): Promise<RepositorySettings> {
  const { stdout } = await plumbing.ask(["config", "-z", "--get-regexp", NAMES]);
  const found = new Map(stdout.split("\0").map(splitSetting));
  const autocrlf = found.get("core.autocrlf") ?? "false";
  return {
    format: found.get("extensions.objectformat")?.toLowerCase() === "sha256" ? "sha256" : "sha1",
    autocrlf: !/^(false|no|off|0|)$/i.test(autocrlf),
  };
}

/** A name and its value are parted by a line feed; without one it stands for true (git-config(1)). */
function splitSetting(entry: string): readonly [string, string] {
  const at = entry.indexOf("\n");
  return at < 0 ? [entry, "true"] : [entry.slice(0, at), entry.slice(at + 1)];
}
