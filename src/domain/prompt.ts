/**
 * What an agent is first told: the prompt, a blank line, then the project's rules, both byte for byte.
 *
 * Either may be absent, `null` or empty; `null` when both are.
 */
export function composePrompt(prompt: string | null, rules: string | null): string | null {
  const parts = [prompt, rules].filter((part) => part !== null && part !== "");
  return parts.length === 0 ? null : parts.join("\n\n");
}
