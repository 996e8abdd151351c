#!/usr/bin/env node
import { openAo } from "../src/compose.ts";
import { processInterruption } from "./interruption.ts";
import { processIo } from "./io.ts";
import { run, wantsJson } from "./run.ts";

const argv = process.argv.slice(2);
process.exitCode = await run(argv, processIo(processInterruption(wantsJson(argv))), openAo);
