import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { draftName } from "../../../domain/draft-name.ts";
import { type AgentDeclaration, ANY_DECLARATION } from "../../../ports/agent-declaration.ts";

/**
 * The declarations that sessions of a data directory were started with, so that commands elsewhere, where another
 * configuration holds or none, know their agents. What cannot be read is left out.
 */
export function readDeclarations(folder: string): readonly AgentDeclaration[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => readOne(join(folder, name)) ?? []);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOne(path: string): AgentDeclaration | undefined {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<AgentDeclaration>;
    const { name, command } = value;
    return typeof name === "string" && Array.isArray(command)
      ? { ...ANY_DECLARATION, ...value, name, command }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps them, each in place of an earlier one of its name. Writes nothing that is there already. */
export function keepDeclarations(folder: string, declarations: readonly AgentDeclaration[]): void {
  for (const declaration of declarations) {
    const path = join(folder, `${declaration.name}.json`);
    const text = `${JSON.stringify(declaration)}\n`;
    if (textAt(path) === text) continue;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    replace(path, text);
  }
}

function replace(path: string, text: string): void {
  const draft = draftName(path, randomUUID());
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
