import { isAoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionDeps } from "../deps.ts";
import { type LiveSession, observeLive } from "../messages/observe-target.ts";
import { isProvenGone } from "../proven-gone.ts";
import { requireSession } from "../session-refs.ts";

/** Whether an agent can be told something. Only what was seen to be gone is gone. */
export type Reach =
  | { readonly kind: "live"; readonly live: LiveSession }
  | { readonly kind: "gone"; readonly why: string }
  /** Nobody could look. */
  | { readonly kind: "unseen"; readonly why: string };

/**
 * Looks at a session, and never starts one. That its runtime is not there proves nothing while its process may live.
 */
export async function reachOf(deps: SessionDeps, id: SessionId): Promise<Reach> {
  if (isTerminal(requireSession(deps, id).lifecycle))
    return { kind: "gone", why: `session ${id} is terminated` };
  try {
    return { kind: "live", live: await observeLive(deps, id) };
  } catch (error) {
    if (isAoError(error, "runtime_unavailable")) return { kind: "unseen", why: error.message };
    if (!isAoError(error, "not_running")) throw error;
    return { kind: (await isProvenGone(deps, id)) ? "gone" : "unseen", why: error.message };
  }
}
