/**
 * A text as an agent takes it for words, also when it begins with what would be a command to it: with a space in
 * front, which claude 2.1.197, codex 0.171.0 and opencode 1.18.33 take for a part of the words. Pure.
 *
 * @param commandMarks as `AgentCapabilities` has them.
 */
export function literalText(text: string, commandMarks: readonly string[] = []): string {
  return commandMarks.some((mark) => text.startsWith(mark)) ? ` ${text}` : text;
}
