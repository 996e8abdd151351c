import { GOALS } from "../conformance/goals/goal-scenarios.ts";
import { runOnStack } from "../conformance/goals/run-on-stack.ts";

runOnStack(GOALS);
