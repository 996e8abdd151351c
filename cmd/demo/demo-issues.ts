/** One small issue of the demo. The prompt is in the words of the embedded agent. */
export interface DemoIssue {
  readonly issue: string;
  readonly title: string;
  readonly prompt: string;
  /** The status in which the agent comes to rest on its own. */
  readonly restsAs: "idle" | "needs_input";
}

/** Three issues: one that leaves a draft uncommitted, one that finishes, one that needs an answer. */
export const DEMO_ISSUES: readonly DemoIssue[] = [
  {
    issue: "1",
    title: "Greet customers by name",
    prompt: [
      "say Reading src/greeting.js",
      "wait 1",
      'write src/greeting.js export const greeting = (name) => "hello " + name;\\n',
      "commit Greet customers by name",
      "write draft.md Ideas for greetings in other languages.\\n",
      "say Left a draft, not committed yet",
    ].join("\n"),
    restsAs: "idle",
  },
  {
    issue: "2",
    title: "Round prices to cents",
    prompt: [
      "say Looking at src/price.js",
      "wait 2",
      "write src/price.js export const price = Math.round(9.99 * 100) / 100;\\n",
      "commit Round prices to cents",
    ].join("\n"),
    restsAs: "idle",
  },
  {
    issue: "3",
    title: "Show totals with a currency",
    prompt: [
      "say Looking at src/cart.js",
      "wait 1",
      "ask Which currency should totals be in?",
      "append src/cart.js export const currency = 'EUR';\\n",
      "commit Show totals with a currency",
    ].join("\n"),
    restsAs: "needs_input",
  },
];
