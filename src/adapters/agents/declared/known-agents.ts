import { type AgentDeclaration, ANY_DECLARATION } from "../../../ports/agent-declaration.ts";

/**
 * Agents as their documents and other programs describe them in 2026; none of them was run with `ao`, which
 * `ao agents` says of each. A declaration of the same name in the configuration takes its place. All take their
 * first prompt as a message: a prompt among their arguments would be seen in every process list. Of goose, amp and
 * copilot it is not known what their prompts for leave look like, so no screen of theirs counts as ready: they take
 * messages once a declaration says which does.
 */
export const KNOWN_AGENTS: readonly AgentDeclaration[] = [
  {
    ...ANY_DECLARATION,
    name: "aider",
    command: ["aider", "--no-check-update"],
    modelArgs: ["--model", "{model}"],
    permissions: { default: [], bypass: ["--yes-always"] },
    screen: {
      ready: ["^(aider|ask|code|architect)?> ?$"],
      busy: [],
      waiting: ["\\(Y\\)es/\\(N\\)o", "^Allow creation of", "^Add .* to the chat\\?"],
    },
    interrupt: ["C-c"],
  },
  {
    ...ANY_DECLARATION,
    name: "gemini",
    command: ["gemini"],
    modelArgs: ["-m", "{model}"],
    permissions: {
      default: [],
      "accept-edits": ["--approval-mode", "auto_edit"],
      bypass: ["--approval-mode", "yolo"],
    },
    screen: { ready: ["Type your message"], busy: ["esc to cancel"], waiting: ["Yes, allow once"] },
    interrupt: ["Escape"],
  },
  {
    ...ANY_DECLARATION,
    name: "cursor",
    command: ["cursor-agent"],
    modelArgs: ["--model", "{model}"],
    permissions: { default: [], bypass: ["--force"] },
    screen: {
      ready: ["→ Add a follow-up", "Plan, search, build anything"],
      busy: ["ctrl\\+c to stop"],
      waiting: ["Run this command\\?", "Enter to approve", "Do you trust the files in this folder"],
    },
    interrupt: ["C-c"],
  },
  {
    ...ANY_DECLARATION,
    name: "goose",
    command: ["goose", "session"],
    permissions: { default: [] },
  },
  {
    ...ANY_DECLARATION,
    name: "amp",
    command: ["amp"],
    permissions: { default: [], bypass: ["--dangerously-allow-all"] },
  },
  {
    ...ANY_DECLARATION,
    name: "copilot",
    command: ["copilot"],
    modelArgs: ["--model", "{model}"],
    permissions: {
      default: [],
      "accept-edits": ["--allow-tool", "write"],
      bypass: ["--allow-all-tools"],
    },
    screen: { ready: [], busy: ["esc to cancel"], waiting: [] },
    interrupt: ["Escape"],
  },
];
