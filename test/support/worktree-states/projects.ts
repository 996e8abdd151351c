import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { gitIn, gitRepository, repositoryAt, type TestRepository, writeIn } from "../git-repository.ts";
import { tempDir } from "../temp-dir.ts";
import type { StateProject } from "./state.ts";

const IGNORED = [
  ...[".env*", "*.db", "*.log", "*.pem", "*.pyc", ".cache/", ".next/"],
  ...["node_modules/", "dist/", "build/", "out/", "target/", "venv/", "data/"],
];

const FILES: Readonly<Record<string, string>> = {
  ".gitignore": `${IGNORED.join("\n")}\n`,
  "package.json": "{}\n",
  "Cargo.toml": "\n",
  "f.txt": "one\n",
  "src/app.js": "one\n",
  "tools/build/run.js": "one\n",
};

let templates: string | undefined;

/** Made once a file of tests and copied for each state. */
function templateFolder(): string {
  templates ??= realpathSync(mkdtempSync(join(tmpdir(), "ao-states-")));
  return templates;
}

afterAll(() => {
  if (templates !== undefined) rmSync(templates, { recursive: true, force: true });
  templates = undefined;
});

const made = new Map<StateProject, string>();

function templateOf(project: StateProject): string {
  const folder = templateFolder();
  const known = made.get(project);
  if (known?.startsWith(`${folder}/`) === true) return known;
  const path = join(folder, project);
  make(project, path);
  made.set(project, path);
  return path;
}

function make(project: StateProject, path: string): void {
  if (project === "bare")
    return void gitIn(templateFolder(), "clone", "-q", "--bare", templateOf("usual"), path);
  const repository = gitRepository(path);
  for (const [file, content] of Object.entries(FILES)) writeIn(path, file, content);
  repository.git("add", "--force", ".");
  repository.git("commit", "-qm", "files");
  if (project === "submodule") addLibrary(repository);
}

function addLibrary(repository: TestRepository): void {
  const library = gitRepository(join(templateFolder(), "library"));
  repository.git("submodule", "add", "-q", library.path, "lib");
  repository.git("commit", "-qm", "lib");
}

/** A repository for the worktree of a state, removed when the test ends; in a folder of its own where none is given. */
export function stateRepository(
  project: StateProject = "usual",
  path = join(tempDir("ao-state"), "repo"),
): TestRepository {
  mkdirSync(path, { recursive: true });
  cpSync(templateOf(project), path, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  return repositoryAt(path);
}
