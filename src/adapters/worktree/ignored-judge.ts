import ignore from "ignore";
import type { IgnoredRule } from "../../domain/ignored-rule.ts";
import { classifyIgnored, type IgnoredEvidence, type IgnoredKind } from "./classify-ignored.ts";

/** Says what ignored paths of one working tree are worth. */
export interface IgnoredJudge {
  /** Of one path; a folder ends with `/`. */
  judge(path: string): IgnoredKind;
  /** The user named work, so that it has to be looked for in the folders of tools, too. */
  readonly looksEverywhere: boolean;
}

/**
 * The user's word before our own. In doubt about letter case a pattern finds more work, and less that comes
 * back. `prefix` leads from the folder the patterns start at to that of the paths: empty, or with `/` at
 * the end.
 */
export function ignoredJudge(rule: IgnoredRule, evidence: IgnoredEvidence, prefix = ""): IgnoredJudge {
  const work = ignore({ ignorecase: true }).add(rule.work);
  const reproducible = ignore({ ignorecase: false }).add(rule.reproducible);
  const hasRule = rule.work.length + rule.reproducible.length > 0;
  return {
    looksEverywhere: rule.work.length > 0,
    judge(path) {
      if (!hasRule) return classifyIgnored(path, evidence);
      if (work.ignores(prefix + path)) return "work";
      return reproducible.ignores(prefix + path) ? "output" : classifyIgnored(path, evidence);
    },
  };
}
