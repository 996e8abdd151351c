import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AoError } from "../../../domain/errors.ts";
import type { LaunchRequest } from "../../../ports/agent.ts";
import { type Members, membersIn } from "../json-lines.ts";
import { PLUGIN_SOURCE } from "./plugin-source.ts";

const PLUGIN = "opencode-plugin.js";

/** What a launch needs beside the user's own settings, of which it changes nothing. */
export interface LaunchConfig {
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly { readonly path: string; readonly content: string }[];
}

/** The configuration of one launch; `given` is the user's own `OPENCODE_CONFIG_CONTENT`. @throws AoError usage */
export function launchConfig(request: LaunchRequest, given: string | undefined): LaunchConfig {
  const { launchDir, workspacePath, permissions } = request;
  const plugin = join(launchDir, PLUGIN);
  const settings = {
    workspace: workspacePath,
    acceptsEdits: permissions === "accept-edits",
    configContent: given ?? "",
  };
  return {
    env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(withPlugin(given, pathToFileURL(plugin).href)) },
    files: [
      { path: plugin, content: PLUGIN_SOURCE },
      { path: join(launchDir, "plugin.json"), content: `${JSON.stringify(settings)}\n` },
    ],
  };
}

/** Lists of plugins from all of the user's settings are joined by opencode (1.18.33). */
function withPlugin(given: string | undefined, plugin: string): object {
  const own = given === undefined || given.trim() === "" ? {} : parseConfig(given);
  const plugins = Array.isArray(own["plugin"]) ? own["plugin"] : [];
  return { ...own, plugin: [...plugins, plugin] };
}

function parseConfig(text: string): Members {
  const members = membersIn(text);
  if (members !== undefined && !Array.isArray(members)) return members;
  // What opencode may take and JSON does not, comments for example, cannot be joined with what is needed here.
  throw new AoError("usage", "OPENCODE_CONFIG_CONTENT is not a JSON object, so nothing can be added to it", {
    hint: "write it without comments, or put it into a file that OPENCODE_CONFIG names",
  });
}
