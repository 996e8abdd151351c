import type { LaunchId } from "./ids.ts";
import type { ActivitySource, ActivityState } from "./lifecycle.ts";

/** What one look at a runtime found. `probe_failed` says nothing about the session itself. */
export type RuntimeFact =
  | { readonly kind: "alive"; readonly lastOutputAtMs: number | null }
  | {
      readonly kind: "exited";
      readonly exitStatus: number | null;
      readonly signal: string | null;
      /** When, Unix milliseconds; absent or `null` where the runtime does not tell. */
      readonly atMs?: number | null;
    }
  | { readonly kind: "missing" }
  | { readonly kind: "unknown" }
  | { readonly kind: "probe_failed"; readonly cause: string };

/** What one look at the agent's process found, by pid, start time and boot id. */
export type ProcessFact =
  | { readonly kind: "alive" }
  /** `ofAnotherBoot`: no process of its boot can live, whatever was heard of it a moment ago. */
  | { readonly kind: "dead"; readonly ofAnotherBoot?: true }
  | { readonly kind: "indeterminate" }
  | { readonly kind: "probe_failed"; readonly cause: string };

export interface RuntimeObservation {
  readonly runtime: RuntimeFact;
  readonly process: ProcessFact;
}

export const SIGNAL_CONFIDENCES = ["valid", "stale", "null", "unavailable", "probe_failure"] as const;
export type SignalConfidence = (typeof SIGNAL_CONFIDENCES)[number];

/** What was heard of an agent's doing. Only `valid` ones of the current launch count. */
export interface ActivitySignal {
  readonly state: ActivityState;
  readonly confidence: SignalConfidence;
  readonly source: ActivitySource;
  readonly atMs: number;
  readonly launchId: LaunchId;
  /** What an agent that waits for a person wants, where its screen tells that; of hooks `HeardEvents` has it. */
  readonly asks?: Ask;
}

export type CiStatus = "none" | "pending" | "passing" | "failing";
export type ReviewDecision = "none" | "pending" | "approved" | "changes_requested";

/** A pull request as it was fetched. A failed fetch is no fact and never becomes one. */
export type PullRequestFacts =
  | { readonly kind: "merged"; readonly number: number; readonly url: string }
  | { readonly kind: "closed"; readonly number: number; readonly url: string }
  | {
      readonly kind: "open";
      readonly number: number;
      readonly url: string;
      readonly draft: boolean;
      readonly ci: CiStatus;
      readonly review: ReviewDecision;
      readonly humanComments: boolean;
      readonly botComments: boolean;
      readonly conflicts: boolean;
      readonly mergeable: boolean;
      /** The agent has rested longer than the stuck threshold. */
      readonly idleBeyondThreshold: boolean;
    };

/** What an agent that waits for a person wants: an answer in words, or leave to do something. */
export const ASKS = ["question", "permission"] as const;
export type Ask = (typeof ASKS)[number];

/** One hook event as it was read from the inbox. `body` is what the agent sent, unparsed. */
export interface HookEvent {
  /** Names the event for ever; reading it twice gives the same id. */
  readonly id: string;
  readonly sessionId: string;
  readonly launchId: string;
  readonly agent: string;
  readonly event: string;
  readonly atMs: number;
  readonly body: string;
}
