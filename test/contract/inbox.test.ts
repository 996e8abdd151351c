import { join } from "node:path";
import { fileInbox } from "../../src/adapters/inbox/file-inbox.ts";
import { memoryInbox } from "../../src/adapters/memory/inbox.ts";
import { tempDir } from "../support/temp-dir.ts";
import { inboxContract } from "./inbox.contract.ts";

inboxContract("memory", memoryInbox);
inboxContract("file", () => fileInbox({ dir: join(tempDir(), "inbox") }));
