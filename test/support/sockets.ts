import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

const LISTEN = "require('net').createServer().listen(process.argv[1], () => process.stdout.write('up'))";
const ENDS = LISTEN.replace("process.stdout.write('up')", "process.kill(process.pid, 'SIGKILL')");

/** A process listens in a folder until the test ends: by a relative name, for an address has to be short. */
export async function listenAt(cwd: string, name: string): Promise<void> {
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const server = spawn(process.execPath, ["-e", LISTEN, name], { cwd, stdio: [...stdio] });
  onTestFinished(() => void server.kill("SIGKILL"));
  await once(server, "spawn");
  if (server.stdout !== null) await once(server.stdout, "data");
}

/** Leaves a socket that no process has any more. */
export function leaveSocket(cwd: string, name: string): void {
  spawnSync(process.execPath, ["-e", ENDS, name], { cwd, stdio: "ignore" });
}
