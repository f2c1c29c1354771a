import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/free-port.ts";
import { type RuntimeName, runtimes } from "../support/runtimes.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { openConnection } from "./http/connection.ts";
import { requestBytes } from "./http/request.ts";
import { median } from "./median.ts";

/** Startup time of the server for a user. */
export const STARTUP: Benchmark = {
  title: "From `npm start` to the first 200",
  method: `The scripts \`npm start\`, \`npm run start:bun\` and \`npm run start:deno\` as a user types them, on a data folder that one
earlier start has filled. Measured from the start of npm to the 200 that answers \`GET /healthz\`, asked for every few ms;
the median. What npm itself takes is measured with a script of its own that ends at once (\`npm --version\`).`,
  options: { starts: { meaning: "starts of each runtime", value: 7, quick: 2 } },
  run: ({ starts = 0 }) => benchStartup(starts),
};

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCRIPTS: Readonly<Partial<Record<RuntimeName, string>>> = {
  node26: "start",
  bun: "start:bun",
  deno: "start:deno",
};
const ASK_AGAIN_MS = 5;
const PATIENCE_MS = 60_000;

async function benchStartup(starts: number): Promise<Row[]> {
  const rows: Row[] = [];
  const npm = median(await times(starts, () => elapsed(["--version"])));
  for (const { name, missing } of runtimes) {
    const script = SCRIPTS[name];
    if (script === undefined || missing !== undefined) continue;
    progress(`${name}: npm run ${script}`);
    const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
    try {
      await start(script, data);
      const ms = median(await times(starts, () => start(script, data)));
      rows.push({
        what: `${name}: npm run ${script}`,
        measured: `${(ms / 1000).toFixed(2)} s, npm's ${(npm / 1000).toFixed(2)} s among them`,
        wanted: "≤ 1.5 s",
        reached: ms <= 1_500,
      });
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  }
  return rows;
}

async function times(count: number, run: () => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let n = 0; n < count; n++) all.push(await run());
  return all;
}

/** Duration of npm, ms. */
async function elapsed(args: readonly string[]): Promise<number> {
  const from = performance.now();
  const child = spawn("npm", args, { cwd: ROOT, stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  return performance.now() - from;
}

/** Starts and stops the server; returns the time to the first 200, ms. */
async function start(script: string, data: string): Promise<number> {
  const port = String(await freePort());
  const from = performance.now();
  // A separate process group, because the signal has to reach the server behind npm.
  const child = spawn("npm", ["run", script], {
    cwd: ROOT,
    env: { ...process.env, PORT: port, RINGPORT_DATA: data },
    stdio: "ignore",
    detached: true,
  });
  try {
    while (!(await answers200(`http://127.0.0.1:${port}`))) {
      if (child.exitCode !== null) throw new Error(`npm run ${script} ended with ${child.exitCode}`);
      if (performance.now() - from > PATIENCE_MS) throw new Error(`npm run ${script} did not answer`);
      await setTimeout(ASK_AGAIN_MS);
    }
    return performance.now() - from;
  } finally {
    if (child.pid !== undefined) await endGroup(child.pid);
  }
}

/** npm may be gone before its server is. */
async function endGroup(pid: number): Promise<void> {
  try {
    for (process.kill(-pid, "SIGTERM"); ; await setTimeout(ASK_AGAIN_MS)) process.kill(-pid, 0);
  } catch {
    // The group no longer exists.
  }
}

async function answers200(url: string): Promise<boolean> {
  let answered: (status: number) => void = () => {};
  const status = new Promise<number>((resolve) => {
    answered = resolve;
  });
  try {
    const socket = await openConnection(url, answered, () => answered(0));
    socket.write(requestBytes("GET", "/healthz"));
    const first = await status;
    socket.destroy();
    return first === 200;
  } catch {
    return false; // not listening yet
  }
}
