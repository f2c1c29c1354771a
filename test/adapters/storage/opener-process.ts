import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { THIS_RUNTIME } from "../../support/runtimes.ts";

const program = fileURLToPath(new URL("opener.ts", import.meta.url));

/** A process with an open storage. */
export interface OpenerProcess {
  /** "open", or the error. */
  readonly output: string;
  /** Closes the storage and ends. */
  end(): Promise<void>;
  /** Kills the process. */
  kill(): Promise<void>;
}

/** Opens a SQLite file in another process, at the time `at` (ms), so that several processes can do so together. */
export async function openInOtherProcess(path: string, exclusive: boolean, at = 0): Promise<OpenerProcess> {
  const [runtime = "", ...args] = THIS_RUNTIME.command;
  const openerArgs = [program, path, exclusive ? "exclusive" : "shared", String(at)];
  const child = spawn(runtime, [...args, ...openerArgs], { stdio: ["pipe", "pipe", "inherit"] });
  const [output] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    output,
    end: () => endChild(child, () => child.stdin.end()),
    kill: () => endChild(child, () => child.kill("SIGKILL")),
  };
}

async function endChild(child: ChildProcess, end: () => void): Promise<void> {
  const exit = once(child, "exit");
  end();
  await exit;
}
