/**
 * The plugin that opencode runs for a launch (1.18.33), from the launch folder that it stands in. It tells by files
 * in the inbox what the session's own conversations do, and stops a turn when a file in `door` asks for it.
 *
 * Silent in any other process than the first of its launch: what the agent's tools start is none of the session's.
 * Conversations of sub-agents tell nothing but that somebody is asked for leave. While somebody is, nothing tells
 * that work goes on, as a message would answer that question.
 */
export const PLUGIN_SOURCE = `import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const FOLDER = import.meta.dirname;
const DOOR = join(FOLDER, "door");
const { AO_SESSION_ID: session, AO_LAUNCH_ID: launch, AO_DATA_DIR: data } = process.env;
const SETTINGS = JSON.parse(readFileSync(join(FOLDER, "plugin.json"), "utf8"));
const LOOK_MS = 100;
const STOP_MS = 3000;

const infos = new Map();
const turns = new Map();
const asking = new Map();
let isMine;
let count = 0;
let lastMs = 0;

function claim() {
  if (launch !== basename(FOLDER) || !session || !data) return false;
  const file = join(FOLDER, "plugin.pid");
  try {
    writeFileSync(file, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    return readFileSync(file, "utf8") === String(process.pid);
  }
}

function put(folder, temporary, name, content) {
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(temporary, name), content, { mode: 0o600 });
  renameSync(join(temporary, name), join(folder, name));
}

function leave(event, body) {
  lastMs = Math.max(Date.now(), lastMs + 1);
  const head = ["ao-hook 1", "session " + session, "launch " + launch, "agent opencode", "event " + event, "time " + lastMs];
  const name = [launch, process.pid, String(count++).padStart(8, "0")].join("-");
  const inbox = join(data, "inbox");
  try {
    put(join(inbox, "new"), join(inbox, "tmp"), name, head.join("\\n") + "\\n\\n" + JSON.stringify(body));
  } catch {}
}

async function infoOf(client, id) {
  if (!infos.has(id)) {
    const { data: info } = await client.session.get({ path: { id } }).catch(() => ({}));
    if (info) infos.set(id, info);
  }
  return infos.get(id);
}

function isOwn(info) {
  return info !== undefined && !info.parentID && info.directory === SETTINGS.workspace;
}

function working(event, sessionID) {
  if (asking.size === 0) leave(event, { sessionID });
}

function textOf(parts) {
  return parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text).join("\\n");
}

function failureOf(error) {
  return { name: String(error?.name), message: String(error?.data?.message ?? error?.message ?? "") };
}

const ON = {
  "session.created": (client, { info }) => void infos.set(info.id, info),
  "session.status": (client, { sessionID, status }) => {
    const turn = turns.get(sessionID);
    if (status.type !== "busy") return;
    if (turn) turn.isRefused = false;
    else if (isOwn(infos.get(sessionID))) {
      turns.set(sessionID, { client, error: null, isRefused: false });
      working("session.status", sessionID);
    }
  },
  "session.error": (client, { sessionID, error }) => {
    const turn = turns.get(sessionID);
    if (turn) turn.error = failureOf(error);
  },
  "session.idle": (client, { sessionID }) => {
    for (const [id, asker] of asking) if (asker === sessionID) asking.delete(id);
    const turn = turns.get(sessionID);
    if (!turn) return;
    turns.delete(sessionID);
    leave("session.idle", { sessionID, error: turn.error, isRefused: turn.isRefused });
  },
  "permission.asked": (client, { id, sessionID }) => {
    asking.set(id, sessionID);
    leave("permission.asked", { sessionID });
  },
  "permission.replied": (client, { requestID, sessionID, reply }) => {
    const turn = turns.get(sessionID);
    if (turn && reply === "reject") turn.isRefused = true;
    if (asking.delete(requestID)) working("permission.replied", sessionID);
  },
};
ON["question.asked"] = ON["permission.asked"];
ON["question.replied"] = ON["permission.replied"];
ON["question.rejected"] = (client, asked) => ON["permission.replied"](client, { ...asked, reply: "reject" });

async function stop(sessionID) {
  const turn = turns.get(sessionID);
  if (!turn) return "absent";
  await turn.client.session.abort({ path: { id: sessionID } });
  for (const endMs = Date.now() + STOP_MS; Date.now() < endMs; await new Promise((go) => setTimeout(go, 20))) {
    if (turns.get(sessionID) !== turn) return "stopped";
  }
  return "unconfirmed";
}

async function answerDoor() {
  const asks = readdirSync(DOOR).filter((name) => name.endsWith(".ask"));
  for (const name of asks) {
    const sessionID = readFileSync(join(DOOR, name), "utf8");
    rmSync(join(DOOR, name));
    const answer = await stop(sessionID).catch((error) => "failed: " + error);
    put(DOOR, FOLDER, name.replace(/ask$/, "answer"), answer);
  }
}

function openDoor() {
  mkdirSync(DOOR, { recursive: true, mode: 0o700 });
  let isBusy = false;
  const look = async () => {
    if (isBusy) return;
    isBusy = true;
    await answerDoor().catch(() => {});
    isBusy = false;
  };
  setInterval(look, LOOK_MS).unref();
}

export const AoEvents = async ({ client }) => {
  if (isMine === undefined) {
    isMine = claim();
    if (isMine) openDoor();
  }
  if (!isMine) return {};
  return {
    config: async (config) => {
      config.share ??= "disabled";
      if (!SETTINGS.acceptsEdits) return;
      const given = typeof config.permission === "string" ? { "*": config.permission } : config.permission;
      config.permission = { ...given, edit: "allow" };
    },
    "shell.env": async (input, output) => {
      output.env.OPENCODE_CONFIG_CONTENT = SETTINGS.configContent;
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (!isOwn(await infoOf(client, sessionID))) return;
      const isDuring = turns.has(sessionID);
      if (!isDuring) turns.set(sessionID, { client, error: null, isRefused: false });
      leave("chat.message", { sessionID, messageID: message.id, text: textOf(parts), isDuring });
    },
    "tool.execute.after": async ({ sessionID }) => {
      if (turns.has(sessionID)) working("tool.execute.after", sessionID);
    },
    event: async ({ event }) => ON[event.type]?.(client, event.properties),
  };
};
`;
