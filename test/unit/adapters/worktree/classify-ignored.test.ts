import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  classifyIgnored,
  type IgnoredEvidence,
  type IgnoredKind,
} from "../../../../src/adapters/worktree/classify-ignored.ts";
import { ignoredJudge } from "../../../../src/adapters/worktree/ignored-judge.ts";

/** A worktree with these tracked files and Python environments. */
function evidence(tracked: readonly string[] = [], environments: readonly string[] = []): IgnoredEvidence {
  return {
    isTracked: (file) => tracked.includes(file),
    holdsTracked: (folder) => tracked.some((file) => file.startsWith(`${folder}/`)),
    isPythonEnv: (folder) => environments.includes(folder),
  };
}

const MANIFESTS = ["package.json", "Cargo.toml", "pkg/setup.py"];

describe("classifyIgnored", () => {
  test.each<[string, IgnoredKind]>([
    ["node_modules/a/index.js", "tool"],
    ["node_modules/a/.env", "tool"],
    ["packages/web/node_modules/x.db", "tool"],
    ["dist/node_modules/x.pem", "tool"],
    [".tox/py39/lib/cacert.pem", "tool"],
    [".mypy_cache/3.11/cache.db", "tool"],
    ["src/app.egg-info/PKG-INFO", "tool"],
    [".venv/lib/python3/site-packages/certifi/cacert.pem", "tool"],
    [".venv/pyvenv.cfg", "tool"],
    ["a.pyc", "output"],
    ["src/__pycache__/a.cpython-311.pyc", "output"],
    ["lib/a.o", "output"],
    [".DS_Store", "output"],
    ["Thumbs.db", "output"],
    [".next/BUILD_ID", "output"],
    [".next/static/media/logo.png", "output"],
    ["dist/", "output"],
    ["dist/app.js", "output"],
    ["dist/app.js.map", "output"],
    ["dist/index.html", "output"],
    ["dist/id_map.js", "output"],
    ["build/deep/manifest.json", "output"],
    ["target/debug/app", "output"],
    ["target/debug/.fingerprint/app/dep-lib-app", "output"],
    ["pkg/build/lib/app.py", "output"],
    ["out/app.js", "output"],
    ["sub/target/app.jar", "output"],
  ])("%s comes back: %s", (path, kind) => {
    expect(classifyIgnored(path, evidence(MANIFESTS))).toBe(kind);
  });

  test.each<[string]>([
    ["notes.txt"],
    ["app.log"],
    ["distant/file"],
    ["out"],
    ["docs/target"],
    ["coverage"],
    ["node_modules"],
    [".env.production"],
    ["id_rsa"],
    [".cache/hf/token"],
    ["venv/lib/app.py"],
    [".venv/src/app.py"],
    [".venv/notes.txt"],
    ["src/__pycache__/notes.txt"],
    ["models/chair.obj"],
    [".next/.env"],
    [".turbo/credentials.json"],
    ["build/.env"],
    ["out/prod.env"],
    ["out/PROD.DB"],
    ["out/dev.sqlite3-wal"],
    ["out/x.duckdb"],
    ["out/x.sqlite.bak"],
    ["build/credentials.json"],
    ["build/terraform.tfstate.backup"],
    ["build/id_ed25519"],
    ["dist/.npmrc"],
    ["dist/report.docx"],
    ["dist/report.pdf"],
    ["dist/figure.png"],
    ["dist/README.md"],
    ["dist/release.zip"],
    ["build/dump.sql"],
    ["build/experiment.ipynb"],
    ["target/data.parquet"],
    ["out/experiment.csv"],
    ["out/results.json"],
    ["out/app"],
    ["sub/target/debug/app"],
    ["sub/build/notes"],
    ["sub/dist/index.html"],
  ])("%s is work", (path) => {
    expect(classifyIgnored(path, evidence(MANIFESTS))).toBe("work");
  });

  test.each<[string, readonly string[]]>([
    ["build/local.js", ["package.json", "build/run.js"]],
    ["build/deep/local.js", ["package.json", "build/deep/run.js"]],
    ["node_modules/own/index.js", ["node_modules/own/package.json"]],
    [".tox/own.ini", [".tox/tox.ini"]],
    [".next/own", [".next/config"]],
    [".venv/lib/own.py", [".venv/lib/app.py"]],
  ])("%s is work when its folder holds something tracked", (path, tracked) => {
    expect(classifyIgnored(path, evidence(tracked))).toBe("work");
  });

  test("a folder without anything tracked inside one that has is judged by its own name", () => {
    expect(classifyIgnored("node_modules/b/x.js", evidence(["node_modules/a/x.js"]))).toBe("work");
    expect(classifyIgnored("build/node_modules/x.js", evidence(["build/run.js"]))).toBe("tool");
  });

  test.each([
    ["myenv/lib/python3/a.pem", "tool"],
    ["myenv/pyvenv.cfg", "tool"],
    ["myenv/app.py", "work"],
    ["myenv/src/app.py", "work"],
    ["other/lib/a.py", "work"],
  ])("with a pyvenv.cfg in myenv %s is %s", (path, kind) => {
    expect(classifyIgnored(path, evidence([], ["myenv"]))).toBe(kind);
  });

  const folders = fc.array(fc.constantFrom("src", "dist", "build", "out", "target", "coverage", "a b"), {
    maxLength: 4,
  });
  const caches = fc.constantFrom(".next", ".nuxt", ".turbo");
  const secrets = fc.constantFrom(".env", "x.db", "server.key", "id_ed25519", "token", ".npmrc");
  const documents = fc.constantFrom("a.docx", "a.csv", "a.sql", "a.ipynb", "a.pdf", "a.zip", "a.png", "a.pt");
  const names = fc.oneof(secrets, documents, fc.constantFrom("notes", "results.json", "app.js", "a.py"));
  const manifests = fc.subarray(MANIFESTS);

  test("no name becomes less precious in a folder of builds, unless what makes that folder is beside it", () => {
    fc.assert(
      fc.property(folders, fc.oneof(secrets, documents), manifests, (parts, name, tracked) => {
        expect(classifyIgnored([...parts, name].join("/"), evidence(tracked))).toBe("work");
      }),
    );
    fc.assert(
      fc.property(folders, names, (parts, name) => {
        const kind = classifyIgnored([...parts, name].join("/"), evidence());
        expect(kind).toBe(
          name === "app.js" && parts.some((part) => !["src", "a b"].includes(part)) ? "output" : "work",
        );
      }),
    );
  });

  test("a secret is work in every folder but a tool's own", () => {
    fc.assert(
      fc.property(folders, caches, secrets, (parts, cache, name) => {
        expect(classifyIgnored([cache, ...parts, name].join("/"), evidence(MANIFESTS))).toBe("work");
        expect(classifyIgnored([cache, ...parts, "node_modules", name].join("/"), evidence())).toBe("tool");
      }),
    );
  });

  test("nothing in a folder that holds something tracked comes back because of that folder's name", () => {
    const named = fc.constantFrom("dist", "build", "target", "out", "node_modules", ".next", ".tox");
    fc.assert(
      fc.property(named, names, (folder, name) => {
        expect(classifyIgnored(`${folder}/${name}`, evidence([...MANIFESTS, `${folder}/x`]))).toBe("work");
      }),
    );
  });
});

describe("ignoredJudge", () => {
  const judged = (path: string, rule: { work?: readonly string[]; reproducible?: readonly string[] }) =>
    ignoredJudge({ work: [], reproducible: [], ...rule }, evidence(MANIFESTS)).judge(path);

  test.each<[string, { work?: readonly string[]; reproducible?: readonly string[] }, IgnoredKind]>([
    ["notes.txt", {}, "work"],
    ["app.log", { reproducible: ["*.log"] }, "output"],
    ["deep/app.log", { reproducible: ["/*.log"] }, "work"],
    [".cache/hf/token", { reproducible: [".cache/"] }, "output"],
    [".env", { reproducible: [".env"] }, "output"],
    ["data/a.csv", { reproducible: ["data/", "!*.csv"] }, "output"],
    ["data.csv", { reproducible: ["data*", "!*.csv"] }, "work"],
    ["node_modules/own/x.js", { work: ["node_modules/own/"] }, "work"],
    ["dist/app.js", { work: ["dist/"] }, "work"],
    ["dist/app.js", { work: ["dist/"], reproducible: ["dist/"] }, "work"],
    ["dist/APP.js", { work: ["app.js"] }, "work"],
    ["APP.log", { reproducible: ["app.log"] }, "work"],
  ])("%s with %j is %s", (path, rule, kind) => {
    expect(judged(path, rule)).toBe(kind);
  });

  test("patterns start where the worktree does, also for paths of a submodule", () => {
    const rule = { work: ["/lib/dist/"], reproducible: [] };
    expect(ignoredJudge(rule, evidence(), "lib/").judge("dist/app.js")).toBe("work");
    expect(ignoredJudge(rule, evidence()).judge("dist/app.js")).toBe("output");
  });

  test("every path that can be is judged, whatever is in its name", () => {
    const name = fc
      .string({ minLength: 1, unit: "grapheme" })
      .filter((text) => !/[/\0]|^\.{1,2}$/.test(text));
    const paths = fc.array(name, { minLength: 1, maxLength: 4 }).map((all) => all.join("/"));
    fc.assert(
      fc.property(paths, (path) => {
        expect(judged(path, { reproducible: ["*"] })).not.toBe("work");
      }),
    );
  });

  test("named work wins over everything, and what nothing is said of is judged as ever", () => {
    const parts = fc.constantFrom("dist", "node_modules", "src", "app.js", ".env", "x.csv");
    const paths = fc.array(parts, { minLength: 1, maxLength: 4 }).map((all) => all.join("/"));
    fc.assert(
      fc.property(paths, (path) => {
        expect(judged(path, { work: ["*"], reproducible: ["*"] })).toBe("work");
        expect(judged(path, { reproducible: ["*"] })).not.toBe("work");
        expect(judged(path, { work: ["none"] })).toBe(classifyIgnored(path, evidence(MANIFESTS)));
      }),
    );
  });
});
