import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitIn, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { stateRepository } from "../../../support/worktree-states/projects.ts";
import { pictureOf } from "../../adapters/worktree/salvage/salvage-world.ts";
import { gitWrapper } from "../../adapters/worktree/worktree-world.ts";
import { type StateSession, type StatesWorld, statesWorld } from "./states-world.ts";

/**
 * A session whose work was kept and whose worktree was moved away for good; but git kept its record, and something had
 * come to lie where the worktree was, so that it could not go back.
 */
async function leftInTheTrash() {
  const blocked = join(tempDir("ao-flag"), "blocked");
  const inTheWay = `mkdir -p "$p"; echo x >"$p/in-the-way"; echo "fatal: no" >&2; exit 128`;
  const refuse = `for p; do :; done; [ ! -e '${blocked}' ] || { ${inTheWay}; }`;
  const world = statesWorld({
    seesProcesses: false,
    gitPath: gitWrapper(`case " $* " in *" worktree remove "*) ${refuse};; esac`),
  });
  const session = await world.spawn(stateRepository());
  writeIn(session.path, "f.txt", "two\n");
  writeIn(session.path, "new.txt", "work\n");
  return { world, session, blocked };
}

type Step = (world: StatesWorld, session: StateSession) => Promise<unknown>;

const killing: Step = (world, session) => world.kill(session, { salvage: true });

const cleaning: Step = async (world, session) => {
  await world.kill(session, { keepWorktree: true });
  return world.cleanup({ salvage: true });
};

const staged = (path: string) => void gitIn(path, "add", ".");
const plain = () => undefined;

test.each<[string, Step, Step, (path: string) => void]>([
  ["a restore", killing, async () => undefined, plain],
  ["a kill", killing, (world, session) => world.kill(session), staged],
  ["a kill that keeps work", cleaning, (world, session) => world.kill(session, { salvage: true }), plain],
  ["a cleanup", cleaning, (world) => world.cleanup({}), plain],
  ["a cleanup that keeps work", killing, (world) => world.cleanup({ salvage: true }), staged],
])(
  "the work of a worktree that could neither go nor come back is not forgotten by %s",
  async (_next, end, next, arrange) => {
    const { world, session, blocked } = await leftInTheTrash();
    arrange(session.path);
    const picture = pictureOf(session.path);
    writeFileSync(blocked, "");
    await end(world, session);
    rmSync(blocked);
    rmSync(session.path, { recursive: true });
    await next(world, session);
    expect(existsSync(session.path)).toBe(false);
    expect(await world.restore(session)).toMatchObject({ salvageRef: `refs/ao/salvage/${session.id}/1` });
    expect(pictureOf(session.path)).toEqual(picture);
  },
);
