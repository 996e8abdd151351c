/** What an attempt to stop a running turn came to. Only `confirmed` is success. */
export type CancelAnswer =
  /** The agent's own evidence says that it stopped this turn. */
  | { readonly kind: "confirmed" }
  /** Typed proof that nothing runs. */
  | { readonly kind: "target_absent" }
  /** The agent's process or conversation is gone: nobody can know how the turn ended. */
  | { readonly kind: "state_lost"; readonly detail: string }
  /** It may have been told to stop, and there is no evidence that it did. */
  | { readonly kind: "delivery_unconfirmed"; readonly detail: string }
  /** It could not be reached now, and was not told to stop. */
  | { readonly kind: "disconnected"; readonly detail: string }
  /** It cannot be stopped this way, and trying again would not help. */
  | { readonly kind: "error"; readonly code: string; readonly message: string };
