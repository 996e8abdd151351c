/** Whether an outside program can be used. */
export type ToolCheck =
  | { readonly kind: "ok"; readonly version: string; readonly path: string }
  | { readonly kind: "missing"; readonly hint: string }
  | { readonly kind: "too_old"; readonly version: string; readonly needed: string; readonly hint: string }
  | { readonly kind: "failed"; readonly cause: string };
