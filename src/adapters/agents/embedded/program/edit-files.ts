import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Step } from "./steps.ts";

export type EditStep = Extract<Step, { readonly path: string }>;

function withFinalNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/**
 * Does one edit at `path`, which `confinePath` gave back relative to `root`; folders are made as needed.
 *
 * @throws Error as Node throws it when the file system refuses.
 */
export function editFile(root: string, path: string, step: EditStep): void {
  const file = join(root, path);
  if (step.kind === "delete") {
    rmSync(file);
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  const write = step.kind === "write" ? writeFileSync : appendFileSync;
  write(file, withFinalNewline(step.text));
}
