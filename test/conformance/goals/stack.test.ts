import { PINNED } from "./pinned-scenarios.ts";
import { runOnStack } from "./run-on-stack.ts";

// Real agents begin, end and are looked at: most of the time of these tests is waiting.
runOnStack(PINNED);
