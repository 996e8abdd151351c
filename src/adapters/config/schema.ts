import * as z from "zod";
import { parseDuration } from "../../domain/duration.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../domain/session.ts";
import { declaredAgentsSchema } from "./declared-agents.ts";

/** Old words of the earlier programs for what `ao` calls otherwise (specs/compat.md J6). */
const OLD_PERMISSIONS = {
  permissionless: "bypass",
  skip: "bypass",
  "bypass-permissions": "bypass",
  "auto-edit": "accept-edits",
  suggest: "default",
} as const satisfies Record<string, PermissionMode>;

/** How the schema marks a key of the earlier programs that has no effect here. */
export const UNUSED = "Known from earlier programs; has no effect.";

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null || value === undefined) return "nothing";
  return typeof value === "object" ? "a mapping" : `${typeof value} ${JSON.stringify(value)}`;
}

const expected = (what: string) => (issue: { readonly input?: unknown }) =>
  `must be ${what}, is ${kindOf(issue.input)}`;

const unused = z.unknown().optional().meta({ description: UNUSED });
const text = z.string({ error: expected("text") });

function listOf(what: string, item: z.ZodString) {
  return z.array(item, { error: expected(`a list of ${what}`) });
}

const insidePath = text.refine((path) => !path.startsWith("/") && !path.split("/").includes(".."), {
  error: "must be a path inside the repository, without `..`",
});

const permissionWords = [...PERMISSION_MODES, ...Object.keys(OLD_PERMISSIONS)];

function permissionOf(word: string): PermissionMode | undefined {
  const modern = PERMISSION_MODES.find((mode) => mode === word);
  return modern ?? Object.entries(OLD_PERMISSIONS).find(([old]) => old === word)?.[1];
}

const permissions = z
  .enum(permissionWords, {
    error: (issue) =>
      `must be one of ${PERMISSION_MODES.join(", ")}, is ${kindOf(issue.input)} (old words: ${Object.keys(OLD_PERMISSIONS).join(", ")})`,
  })
  .transform((word) => permissionOf(word) ?? "default");

const duration = z
  .union([z.string(), z.number()], { error: expected("a duration such as 90s or 10m") })
  .transform((value, context) => {
    const ms = parseDuration(String(value));
    if (ms !== undefined && ms > 0) return ms;
    context.addIssue({
      code: "custom",
      message: `must be a duration such as 90s or 10m, is ${JSON.stringify(value)}`,
    });
    return z.NEVER;
  });

const env = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "must be named like a shell variable" }),
  z
    .union([z.string(), z.number(), z.boolean()], { error: expected("text, a number or a truth value") })
    .transform(String),
  { error: expected("a mapping of names to values") },
);

const mapping = { error: expected("a mapping") };

const agentConfig = z.strictObject(
  {
    permissions: permissions.optional(),
    model: text.optional(),
    orchestratorModel: unused,
    opencodeSessionId: unused,
  },
  mapping,
);

const kind = z.strictObject({ agent: text.optional(), agentConfig: agentConfig.optional() }, mapping);

const patterns = listOf("patterns, as in a .gitignore", text.min(1, { error: "must not be empty" }));

const ignored = z.strictObject(
  {
    reproducible: patterns.optional().meta({
      description: "Ignored files that come back by themselves: no reason to keep a worktree.",
    }),
    work: patterns.optional().meta({
      description: "Ignored files that have to be kept; wins over `reproducible`.",
    }),
  },
  mapping,
);

/** Each is a whole checkout on the disk. */
const MAX_POOL = 16;
const pool = z
  .int({ error: expected(`a number from 0 to ${MAX_POOL}`) })
  .min(0, { error: expected(`a number from 0 to ${MAX_POOL}`) })
  .max(MAX_POOL, { error: expected(`a number from 0 to ${MAX_POOL}`) });

const projectKeys = {
  name: text.optional(),
  repo: unused,
  defaultBranch: text.optional(),
  sessionPrefix: text
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$/, {
      error: "must be at most 31 letters, digits, `_` and `-`, beginning with a letter or digit",
    })
    .optional(),
  agent: text.optional(),
  agentConfig: agentConfig.optional(),
  worker: kind.optional(),
  orchestrator: kind.optional(),
  symlinks: listOf("paths", insidePath).optional(),
  copy: listOf("paths", insidePath).optional(),
  postCreate: listOf("commands", text).optional(),
  postCreateTimeout: duration.optional(),
  agentRules: text.optional(),
  agentRulesFile: text.optional(),
  orchestratorRules: text.optional(),
  env: env.optional(),
  ignored: ignored.optional(),
  pool: pool.optional().meta({ description: "How many worktrees reconcile makes ahead for new sessions." }),
  runtime: unused,
  workspace: unused,
  tracker: unused,
  scm: unused,
  reactions: unused,
  orchestratorSessionStrategy: unused,
  opencodeIssueSessionStrategy: unused,
};

const project = z.strictObject(
  { path: text.min(1, { error: "must not be empty" }), ...projectKeys },
  mapping,
);

const defaults = z.strictObject(
  {
    agent: text.optional(),
    worker: z.strictObject({ agent: text.optional() }, mapping).optional(),
    orchestrator: z.strictObject({ agent: text.optional() }, mapping).optional(),
    runtime: unused,
    workspace: unused,
    notifiers: unused,
  },
  mapping,
);

const topKeys = {
  $schema: text.optional(),
  defaults: defaults.optional(),
  agents: declaredAgentsSchema.optional(),
  port: unused,
  terminalPort: unused,
  directTerminalPort: unused,
  readyThresholdMs: unused,
  power: unused,
  lifecycle: unused,
  plugins: unused,
  dashboard: unused,
  notifiers: unused,
  notificationRouting: unused,
  reactions: unused,
};

const projectId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, {
  error: "must be a project id of 1-63 letters, digits, `_` and `-`",
});

/** A file with `projects:`, for any number of repositories. */
export const sharedFileSchema = z.strictObject(
  { ...topKeys, projects: z.record(projectId, project, mapping) },
  mapping,
);

/** A file without `projects:`: the settings of the repository it lies in. */
export const localFileSchema = z.strictObject({ ...topKeys, ...projectKeys }, mapping);

export type SharedFile = z.output<typeof sharedFileSchema>;
export type LocalFile = z.output<typeof localFileSchema>;
/** The settings of one project as they were written, without its place. */
export type ProjectBlock = Omit<z.output<typeof project>, "path">;

/** The JSON Schema of a configuration file, for editors. */
export function configJsonSchema(): unknown {
  return z.toJSONSchema(z.union([sharedFileSchema, localFileSchema]), { io: "input" });
}
