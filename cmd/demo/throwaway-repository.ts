import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";

const AUTHOR = {
  GIT_AUTHOR_NAME: "Demo",
  GIT_AUTHOR_EMAIL: "demo@ao.invalid",
  GIT_COMMITTER_NAME: "Demo",
  GIT_COMMITTER_EMAIL: "demo@ao.invalid",
};

/** The history of the demo's shop, oldest commit first. */
const HISTORY: readonly { readonly message: string; readonly files: Readonly<Record<string, string>> }[] = [
  {
    message: "Start the shop",
    files: { "README.md": "# Shop\n\nA very small shop.\n", "src/price.js": "export const price = 9.99;\n" },
  },
  {
    message: "Add a cart",
    files: { "src/cart.js": "export const total = (prices) => prices.reduce((a, b) => a + b, 0);\n" },
  },
  {
    message: "Say hello to customers",
    files: { "src/greeting.js": 'export const greeting = "hello";\n' },
  },
];

async function writeFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

/**
 * Makes a repository of three commits on `main` at `path`. Nothing of the user's git configuration has a
 * say in it.
 */
export async function throwawayRepository(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const git = (...args: readonly string[]) =>
    execa("git", args, {
      cwd: path,
      env: { ...env, ...AUTHOR, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      extendEnv: false,
      timeout: 20_000,
    });
  await git("init", "--quiet", "--initial-branch=main");
  for (const { message, files } of HISTORY) {
    await writeFiles(path, files);
    await git("add", "--all");
    await git("commit", "--quiet", `--message=${message}`);
  }
}
