import { accessSync, constants, lstatSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Ao } from "../src/compose.ts";
import { dataLayout } from "../src/domain/data-layout.ts";
import { AoError, errorMessage } from "../src/domain/errors.ts";
import { shellQuoted } from "../src/domain/shell-quoted.ts";
import type { ToolCheck } from "../src/ports/tool-check.ts";
import { refuseUnknownAgents } from "./agent-problems.ts";
import { counted } from "./counted.ts";
import { agentChecks } from "./doctor-agents.ts";
import type { Check } from "./doctor-check.ts";
import { operationsCheck, orphansCheck, poolsCheck } from "./doctor-operations.ts";
import { projectsCheck } from "./doctor-projects.ts";
import type { Invocation } from "./invocation.ts";

const LEAST_NODE = 20;
const OPEN_TO_OTHERS = 0o077;

function pass(name: string, detail: string): Check {
  return { name, status: "pass", detail, fix: null };
}

function toolCheck(name: string, check: ToolCheck, missing: "warn" | "fail" = "fail"): Check {
  switch (check.kind) {
    case "ok":
      return pass(name, `${check.version} (${check.path})`);
    case "missing":
      return { name, status: missing, detail: "not found in PATH", fix: check.hint };
    case "too_old":
      return {
        name,
        status: "fail",
        detail: `${check.version} is older than ${check.needed}`,
        fix: check.hint,
      };
    case "failed":
      return { name, status: "fail", detail: `did not answer: ${check.cause}`, fix: null };
  }
}

function nodeCheck(): Check {
  const { node } = process.versions;
  if (Number(node.split(".")[0]) >= LEAST_NODE) return pass("node", node);
  return {
    name: "node",
    status: "fail",
    detail: `${node} is older than ${LEAST_NODE}`,
    fix: "install a newer Node.js",
  };
}

/** The check that `work` gives, or the failure it throws. */
async function attempt(name: string, work: () => Check | Promise<Check>): Promise<Check> {
  try {
    return await work();
  } catch (error) {
    const fix = error instanceof AoError ? error.hint : null;
    return { name, status: "fail", detail: errorMessage(error), fix };
  }
}

function directoryCheck(ao: Ao, fix: boolean): Check {
  const name = "data directory";
  const { path } = ao.dataDirectory;
  if (!ao.dataDirectory.exists() && !fix) {
    return {
      name,
      status: "warn",
      detail: `${path} does not exist yet`,
      fix: "ao doctor --fix, or the first spawn makes it",
    };
  }
  ao.dataDirectory.prepare();
  return pass(name, path);
}

function modesCheck(ao: Ao, fix: boolean): Check {
  const name = "permissions";
  if (!ao.dataDirectory.exists()) return pass(name, "nothing to protect yet");
  const open = ao.dataDirectory.openToOthers();
  if (open.length === 0) return pass(name, "closed to other users");
  if (fix) {
    ao.dataDirectory.closeToOthers(open);
    return pass(name, `closed ${open.length} to other users`);
  }
  const detail = `${open.length} open to other users, for example ${open[0]}`;
  return { name, status: "warn", detail, fix: "ao doctor --fix" };
}

async function storeCheck(invocation: Invocation): Promise<Check> {
  const name = "store";
  const { store } = (await invocation.open("reading")).deps;
  store.verify();
  const { sessions, unreadable } = store.rows();
  if (unreadable.length === 0) {
    return pass(
      name,
      `${counted(sessions.length, "session")}, ${counted(store.projects().length, "project")}`,
    );
  }
  const named = unreadable.map(({ id, flaw }) => `${id} (${flaw})`).join(", ");
  const detail = `${unreadable.length} of ${sessions.length + unreadable.length} sessions cannot be read: ${named}`;
  const fix = "keep the database, and put a backup in its place; the other sessions work on";
  return { name, status: "fail", detail, fix };
}

/** Hook events that nobody will ever apply. */
async function inboxCheck({ deps }: Ao): Promise<Check> {
  const name = "inbox";
  const [waiting, aside] = await Promise.all([deps.inbox.pending(), deps.inbox.countAside()]);
  if (aside === 0) return pass(name, `${counted(waiting.length, "hook event")} waiting, none lies aside`);
  const folder = `${dataLayout(deps.dataDir).inbox}/aside`;
  const detail = `${counted(aside, "hook event")} of no session lying aside in ${folder}`;
  return { name, status: "warn", detail, fix: "look at them; reconcile removes them after 14 days" };
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

function canMakeIn(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

/** Where no folder can be made, no session can start. */
function missingFolderCheck(name: string, folder: string): Check {
  const around = dirname(folder);
  if (canMakeIn(around)) return pass(name, `${folder} is not there yet; the first spawn makes it`);
  return {
    name,
    status: "fail",
    detail: `${folder} cannot be made: ${around} is no folder that this user can write`,
    fix: `mkdir -p -m 700 ${shellQuoted(around)}; or end the sessions that were started there, then the next spawn chooses another place`,
  };
}

/** The socket's folder must be this user's alone: whoever may enter it may type to the agents. */
async function socketCheck(invocation: Invocation): Promise<Check> {
  const name = "tmux socket";
  const { socketPath } = await invocation.open("reading", { mayLackStore: true });
  const folder = dirname(socketPath);
  const stats = statsOf(folder);
  if (stats === undefined) return missingFolderCheck(name, folder);
  const isOwn = stats.isDirectory() && stats.uid === process.getuid?.();
  if (isOwn && (stats.mode & OPEN_TO_OTHERS) === 0) return pass(name, folder);
  const fix = isOwn
    ? `chmod 700 ${shellQuoted(folder)}`
    : `look at ${folder} and remove it if it is not yours`;
  return { name, status: "fail", detail: `${folder} is not this user's alone`, fix };
}

async function configCheck(ao: Ao): Promise<Check> {
  const name = "configuration";
  const config = await ao.config();
  refuseUnknownAgents(config, ao.deps.agents);
  const { path, warnings } = config;
  if (path === null) return pass(name, "no file, all defaults");
  if (warnings.length === 0) return pass(name, path);
  return {
    name,
    status: "warn",
    detail: `${path}: ${counted(warnings.length, "warning")}`,
    fix: "ao config validate",
  };
}

/** Looks at everything `ao` stands on. With `fix` it repairs the data directory first. */
export async function runChecks(invocation: Invocation, fix: boolean): Promise<readonly Check[]> {
  const ao = await invocation.open("tools");
  const reading = () => invocation.open("reading", { mayLackStore: true });
  const [git, tmux] = await Promise.all([ao.deps.workspace.check(), ao.deps.runtime.check()]);
  return [
    nodeCheck(),
    toolCheck("git", git),
    toolCheck(ao.deps.runtime.name, tmux),
    await attempt("data directory", () => directoryCheck(ao, fix)),
    await attempt("permissions", () => modesCheck(ao, fix)),
    await attempt("store", () => storeCheck(invocation)),
    await attempt("projects", async () => projectsCheck(await reading())),
    await attempt("operations", async () => operationsCheck(await reading())),
    await attempt("inbox", async () => inboxCheck(await reading())),
    await attempt("tmux socket", () => socketCheck(invocation)),
    await attempt("orphans", async () => orphansCheck(await reading())),
    await attempt("pools", async () => poolsCheck(await reading())),
    await attempt("configuration", () => configCheck(ao)),
    ...(await agentChecks(ao, invocation.io.env["PATH"] ?? "")),
  ];
}
