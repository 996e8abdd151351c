import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../temp-dir.ts";
import type { StatePlace, WorktreeState } from "./state.ts";

const IGNORED = { finds: ["ignored"], reason: "ignored_files" } as const;
const holding = (...files: readonly string[]) => ({
  arrange: ({ write }: StatePlace) => {
    for (const file of files) write(file);
  },
  ...IGNORED,
});

/** Work in files that git ignores. */
export const IGNORED_STATES: readonly WorktreeState[] = [
  { name: "an environment file lies in it", ...holding(".env.local") },
  { name: "a local database lies in it", ...holding("app.db") },
  { name: "a key lies in it", ...holding("server.pem") },
  { name: "notes lie in an ignored folder", ...holding("data/notes.txt") },
  {
    name: "an environment file lies among what was built",
    lost: ["dist/app.js"],
    ...holding("dist/app.js", "dist/.env"),
  },
  { name: "a document lies among what was built", lost: ["dist/app.js"], ...holding("dist/report.docx") },
  { name: "results lie in a folder that nothing proves to be of a build", ...holding("out/experiment.csv") },
  { name: "a dump of a database lies among what was built", ...holding("build/dump.sql") },
  {
    name: "an ignored file lies in a tracked folder that is called build",
    ...holding("tools/build/local.js"),
  },
  {
    name: "own sources lie in a Python environment",
    lost: ["venv/pyvenv.cfg"],
    ...holding("venv/pyvenv.cfg", "venv/src/app.py"),
  },
  { name: "a token lies in a cache", ...holding(".cache/hf/token") },
  {
    name: "a build lies in it that the user calls work",
    ignored: { reproducible: ["dist/"], work: ["dist/precious/"] },
    lost: ["dist/app.js"],
    ...holding("dist/app.js", "dist/precious/app.js"),
  },
  {
    name: "a package lies in it that the user calls work",
    ignored: { reproducible: [], work: ["node_modules/own/"] },
    lost: ["node_modules/lib"],
    ...holding("node_modules/lib/index.js", "node_modules/own/index.js"),
  },
  {
    name: "a package is linked from outside of it",
    lost: ["node_modules/lib"],
    arrange: ({ path, write }) => {
      write("node_modules/lib/index.js");
      symlinkSync("../lib", join(path, "node_modules", "lib", "self"));
      symlinkSync(tempDir("ao-package"), join(path, "node_modules", "own"));
    },
    ...IGNORED,
  },
  {
    name: "a copy that was put into it is changed",
    prepare: ({ path }) => writeFileSync(join(path, ".env"), "a=1\n"),
    postCreate: { copy: [".env"] },
    arrange: ({ write }) => write(".env", "a=2\n"),
    ...IGNORED,
  },
  {
    name: "the original of a copy that was put into it is gone",
    prepare: ({ path }) => writeFileSync(join(path, ".env"), "a=1\n"),
    postCreate: { copy: [".env"] },
    arrange: ({ repository }) => rmSync(join(repository.path, ".env")),
    warnings: [/^\.env is not in .* and was not put into the workspace$/],
    ...IGNORED,
  },
  {
    name: "the original of a copy that was put into it is another one by now",
    prepare: ({ path }) => writeFileSync(join(path, ".env"), "a=1\n"),
    postCreate: { copy: [".env"] },
    arrange: ({ repository }) => writeFileSync(join(repository.path, ".env"), "a=2\n"),
    ...IGNORED,
  },
  {
    name: "a link that was put into it leads elsewhere",
    prepare: ({ path }) => writeFileSync(join(path, ".env"), "a=1\n"),
    postCreate: { symlinks: [".env"] },
    arrange: ({ path }) => {
      rmSync(join(path, ".env"));
      symlinkSync("/elsewhere", join(path, ".env"));
    },
    ...IGNORED,
  },
];
