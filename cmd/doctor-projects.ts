import type { Ao } from "../src/compose.ts";
import { isGone, listProjects } from "../src/lifecycle/projects/projects.ts";
import type { Check } from "./doctor-check.ts";

/** Registered projects whose repository is no more where it was. */
export async function projectsCheck({ deps }: Ao): Promise<Check> {
  const name = "projects";
  const projects = listProjects(deps);
  const gone = (await Promise.all(projects.map((project) => isGone(deps, project)))).flatMap((is, index) =>
    is ? (projects[index] ?? []) : [],
  );
  const [first] = gone;
  if (first === undefined) {
    const detail = projects.length === 0 ? "none registered" : "every repository is where it was";
    return { name, status: "pass", detail, fix: null };
  }
  const named = gone.map(({ id, repositoryPath }) => `the repository of ${id} is gone: ${repositoryPath}`);
  const fix = `put it back where it was, or forget it: ao project remove ${first.id}`;
  return { name, status: "warn", detail: named.join("; "), fix };
}
