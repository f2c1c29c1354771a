import { spawn } from "node:child_process";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/free-port.ts";
import { benchmark, inRounds, median, row } from "./harness/benchmark.ts";
import { ALL_RUNTIMES, underEach } from "./harness/programs.ts";
import { inFolder } from "./harness/stored-data.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCRIPTS = { node22: "start", node26: "start", bun: "start:bun", deno: "start:deno" } as const;
const RETRY_MS = 5;
const TIMEOUT_MS = 60_000;
const MAX_MS = 1_500;

/** Time that a user waits for the server. */
export const STARTUP = benchmark({
  options: { starts: { meaning: "starts of each runtime", value: 7, quick: 2 } },
  run: ({ starts }) =>
    underEach(ALL_RUNTIMES, ({ name }) =>
      inFolder(async (data) => {
        const script = SCRIPTS[name];
        const sides = { npm: npmMs, ready: () => readyMs(script, data) };
        const times = await inRounds(starts, sides, { label: `${name}: npm run ${script}` });
        const [npmTime, readyTime] = [median(times.npm), median(times.ready)];
        const measured = `${(readyTime / 1000).toFixed(2)} s, including npm's ${(npmTime / 1000).toFixed(2)} s`;
        return [row(`npm run ${script}`, measured, `≤ ${MAX_MS / 1000} s`, readyTime <= MAX_MS)];
      }),
    ),
});

/** Time that npm itself takes, ms. */
async function npmMs(): Promise<number> {
  const startedAt = performance.now();
  const child = spawn("npm", ["--version"], { cwd: ROOT, stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  return performance.now() - startedAt;
}

/** Starts and ends the server; returns the time to the first 200, ms. */
async function readyMs(script: string, data: string): Promise<number> {
  const port = String(await freePort());
  const startedAt = performance.now();
  const child = spawn("npm", ["run", script], {
    cwd: ROOT,
    env: { ...process.env, PORT: port, RINGPORT_DATA: data },
    stdio: "ignore",
    detached: true, // a separate group: the signal must reach the server behind npm
  });
  try {
    while (!(await isReady(`http://127.0.0.1:${port}/healthz`))) {
      if (child.exitCode !== null) throw new Error(`npm run ${script} ended with ${child.exitCode}`);
      if (performance.now() - startedAt > TIMEOUT_MS) throw new Error(`npm run ${script} did not respond`);
      await pause(RETRY_MS);
    }
    return performance.now() - startedAt;
  } finally {
    if (child.pid !== undefined) await endGroup(child.pid);
  }
}

/** Ends a process group; npm may end before its server. */
async function endGroup(pid: number): Promise<void> {
  try {
    for (process.kill(-pid, "SIGTERM"); ; await pause(RETRY_MS)) process.kill(-pid, 0);
  } catch {
    // The group has ended.
  }
}

function isReady(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ status }) => status === 200,
    () => false, // the port is not open yet
  );
}
