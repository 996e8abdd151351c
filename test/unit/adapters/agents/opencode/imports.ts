import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SQLITE = join(import.meta.dirname, "../../../../../node_modules/better-sqlite3");

/**
 * A program `opencode` below `folder` whose `import <file>` does what opencode 1.18.33 does: it puts what the file
 * holds into the database, in the folder that it runs in. Another command ends it with 1. Returns the `PATH` that
 * has it.
 *
 * @param messages how many it puts there before it dies; all when absent.
 */
export function importingProgram(folder: string, messages?: number): string {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const source = `#!${process.execPath}
const Database = require(${JSON.stringify(SQLITE)});
const { readFileSync } = require("node:fs");
const [command, file] = process.argv.slice(2);
if (command !== "import") process.exit(1);
const { info, messages } = JSON.parse(readFileSync(file, "utf8"));
const db = new Database(process.env.OPENCODE_DB);
db.pragma("foreign_keys = OFF");
const { id, slug, title, version, projectID, time } = info;
db.prepare("INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES (?,?,?,?,?,?,?,?)")
  .run(id, projectID, slug, process.cwd(), title, version, time.created, time.updated);
for (const { info, parts } of messages.slice(0, ${messages ?? "undefined"})) {
  const { id, sessionID, ...data } = info;
  db.prepare("INSERT INTO message VALUES (?,?,?,?,?)").run(id, sessionID, data.time.created, data.time.created, JSON.stringify(data));
  for (const { id: part, messageID, sessionID: session, ...data } of parts)
    db.prepare("INSERT INTO part VALUES (?,?,?,?,?,?)").run(part, messageID, session, info.time.created, info.time.created, JSON.stringify(data));
}
`;
  writeFileSync(join(bin, "opencode"), source, { mode: 0o755 });
  return `${bin}:${process.env["PATH"]}`;
}
