import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { draftName } from "../../domain/draft-name.ts";
import { hasErrorCode } from "../../domain/error-code.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { isSameProcess } from "../../domain/same-process.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import { unavailable } from "./unavailable.ts";

/** Remembers in the data directory which server runs, for the day when its socket is gone. */
export interface ServerRecord {
  /**
   * The server that runs, or ran last; `undefined` when there never was one.
   *
   * @throws AoError runtime_unavailable when that cannot be told.
   */
  read(): Promise<ProcessIdentity | undefined>;
  /** Idempotent. @throws AoError data_dir_unusable when it cannot be written. */
  write(server: ProcessIdentity): Promise<void>;
}

/** The record of the server of one data directory; `stateDir` is made when needed. */
export function serverRecord(stateDir: string): ServerRecord {
  const path = join(stateDir, "tmux-server.json");
  return {
    read: () => readRecord(path),
    async write(server) {
      const known = await readRecord(path).catch(() => undefined);
      if (known !== undefined && isSameProcess(known, server)) return;
      try {
        await mkdir(stateDir, { recursive: true, mode: 0o700 });
        await writeDurably(path, `${JSON.stringify(server)}\n`);
      } catch (error) {
        throw new AoError("data_dir_unusable", `${path} cannot be written: ${errorMessage(error)}`, {
          cause: error,
        });
      }
    },
  };
}

/** The mark of one data directory on its tmux sessions: a copy of it has another one. Pure. */
export function ownerMark(stateDir: string): string {
  return createHash("sha256").update(stateDir).digest("hex").slice(0, 16);
}

/** Of a file that was renamed before its content was on the disk a power failure may leave an empty one. */
async function writeDurably(path: string, text: string): Promise<void> {
  const draft = draftName(path, randomUUID());
  try {
    await writeDraft(draft, text);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function writeDraft(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readRecord(path: string): Promise<ProcessIdentity | undefined> {
  try {
    const server = parseIdentity(JSON.parse(await readFile(path, "utf8")));
    if (server !== undefined) return server;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
  }
  throw unavailable(
    `${path} does not tell its server`,
    `when no agent runs any more: rm ${shellQuoted(path)}`,
  );
}

function parseIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, startTime, bootId } = value as Readonly<Record<string, unknown>>;
  const isWhole = typeof pid === "number" && typeof startTime === "string" && typeof bootId === "string";
  return isWhole ? { pid, startTime, bootId } : undefined;
}
