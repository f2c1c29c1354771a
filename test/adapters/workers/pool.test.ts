import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { UPLOAD_KINDS, workerEntry } from "../../../adapters/defaults/worker-pool.ts";
import { type RunOptions, WorkerPool, type WorkerPoolOptions } from "../../../adapters/workers/pool.ts";
import { runtimes } from "../../support/runtimes.ts";

const entry = new URL("./scripted-worker.ts", import.meta.url);
/** Input and output of the scripted worker. */
type Scripts = Record<
  string,
  {
    readonly input: { readonly script: string; readonly amount: number; readonly bytes: Uint8Array | undefined };
    readonly piece: unknown;
  }
>;

const pools: WorkerPool<Scripts>[] = [];

function scriptedPool(options: Partial<WorkerPoolOptions> = {}): WorkerPool<Scripts> {
  const pool = new WorkerPool<Scripts>({ size: 1, entry, ...options });
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

interface Script extends RunOptions {
  readonly kind?: string;
  readonly amount?: number;
  readonly bytes?: Uint8Array;
}

function runScript(
  pool: WorkerPool<Scripts>,
  script: string,
  { kind = "a", amount = 0, bytes, ...options }: Script = {},
) {
  return pool.run({ kind, script, amount, bytes }, options);
}

async function collect(pieces: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const piece of pieces) items.push(piece);
  return items;
}

const failure = (pieces: AsyncIterable<unknown>): Promise<unknown> => collect(pieces).catch((error: unknown) => error);

describe("a worker pool", () => {
  test("yields the pieces of a job in order", async () => {
    const pieces = await collect(runScript(scriptedPool(), "count", { amount: 5 }));
    expect(pieces.slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
  });

  test("reports a job's error, and its worker continues", async () => {
    const pool = scriptedPool();
    const [thread] = await collect(runScript(pool, "count"));
    expect(await failure(runScript(pool, "fail"))).toMatchObject({
      kind: "failed",
      thrownName: "RangeError",
      message: "out of range",
    });
    expect(await collect(runScript(pool, "count"))).toEqual([thread]);
  });

  test.each(["crash", "exit"])("replaces a worker that ends by %s", async (script) => {
    const pool = scriptedPool();
    const [earlierThread] = await collect(runScript(pool, "count"));
    expect(await failure(runScript(pool, script))).toMatchObject({ name: "PoolError", kind: "crashed" });
    const [laterThread] = await collect(runScript(pool, "count"));
    expect(laterThread).not.toBe(earlierThread);
  });

  test("ends a worker that has had no job for a while, and starts another for the next job", async () => {
    const pool = scriptedPool({ idleMs: 50 });
    const [earlierThread] = await collect(runScript(pool, "count"));
    await expect
      .poll(async () => (await collect(runScript(pool, "count")))[0], { interval: 200 })
      .not.toBe(earlierThread);
  });

  test("keeps a worker whose job takes longer than that", async () => {
    const pool = scriptedPool({ idleMs: 50 });
    const [earlierThread] = await collect(runScript(pool, "count"));
    expect(await collect(runScript(pool, "sleep", { amount: 300 }))).toEqual([earlierThread]);
  });

  test("ends and replaces a worker whose job returns no piece in time", async () => {
    const pool = scriptedPool();
    expect(await failure(runScript(pool, "hang", { timeoutMs: 100 }))).toMatchObject({ kind: "timeout" });
    expect(await collect(runScript(pool, "count"))).toHaveLength(1);
  });

  test("fails jobs if the worker file is missing", async () => {
    const pool = scriptedPool({ entry: new URL("./no-such-worker.ts", import.meta.url) });
    expect(await failure(runScript(pool, "count"))).toMatchObject({ kind: "crashed" });
  });

  test("stops a job when its signal aborts, and keeps its worker", async () => {
    const pool = scriptedPool();
    const [thread] = await collect(runScript(pool, "count"));
    const reason = new Error("enough");
    const abort = new AbortController();
    setTimeout(() => abort.abort(reason), 50);
    expect(await failure(runScript(pool, "obedient", { signal: abort.signal }))).toBe(reason);
    expect(await collect(runScript(pool, "count"))).toEqual([thread]);
  });

  test("replaces a worker whose job ignores its cancellation", { timeout: 20_000 }, async () => {
    const pool = scriptedPool();
    const [earlierThread] = await collect(runScript(pool, "count"));
    expect(await failure(runScript(pool, "hang", { signal: AbortSignal.timeout(50) }))).toMatchObject({
      name: "TimeoutError",
    });
    const [laterThread] = await collect(runScript(pool, "count"));
    expect(laterThread).not.toBe(earlierThread);
  });

  test("removes a waiting job from the queue when its signal aborts", async () => {
    const pool = scriptedPool();
    const abort = new AbortController();
    const order: string[] = [];
    const runningJob = collect(runScript(pool, "sleep", { amount: 200 })).finally(() => order.push("busy"));
    const waitingJob = failure(runScript(pool, "count", { signal: abort.signal })).finally(() => order.push("waiting"));
    abort.abort();
    await waitingJob;
    expect(await runningJob).toHaveLength(1);
    expect(order).toEqual(["waiting", "busy"]);
  });

  test("refuses a job whose signal has already aborted", async () => {
    const reason = new Error("too late");
    expect(await failure(runScript(scriptedPool(), "count", { signal: AbortSignal.abort(reason) }))).toBe(reason);
  });

  test("stops a job when the loop over its pieces ends early", async () => {
    const pool = scriptedPool();
    for await (const _ of runScript(pool, "count", { amount: 100 })) break;
    expect(await collect(runScript(pool, "count"))).toHaveLength(1);
  });

  test("refuses a job when too many wait", async () => {
    const pool = scriptedPool({ maxWaiting: 2 });
    const runningJobs = [1, 2, 3].map(() => collect(runScript(pool, "sleep", { amount: 50 })));
    expect(await failure(runScript(pool, "count"))).toMatchObject({ kind: "overloaded" });
    expect(await Promise.all(runningJobs)).toHaveLength(3);
  });

  test("alternates between kinds of jobs", async () => {
    const pool = scriptedPool();
    const order: string[] = [];
    const recordEnd = async (kind: string) => {
      await collect(runScript(pool, "sleep", { kind, amount: 5 }));
      order.push(kind);
    };
    await Promise.all(["flood", "flood", "flood", "flood", "speech", "speech"].map(recordEnd));
    expect(order).toEqual(["flood", "flood", "speech", "flood", "speech", "flood"]);
  });

  test("keeps one of two workers free", async () => {
    const pool = scriptedPool({ size: 2, leaveOneFree: UPLOAD_KINDS });
    const order: string[] = [];
    const recordEnd = async (kind: string, amount: number) => {
      await collect(runScript(pool, "sleep", { kind, amount }));
      order.push(kind);
    };
    await Promise.all([
      recordEnd("decode", 500),
      recordEnd("inspect", 500),
      recordEnd("parse-body", 5),
      recordEnd("espeak", 5),
      recordEnd("flite", 5),
    ]);
    expect(order.slice(0, 2)).toEqual(["espeak", "flite"]);
    expect(order.slice(2)).toEqual(["decode", "inspect", "parse-body"]);
  });

  test("runs the limited kinds on its only worker", async () => {
    expect(
      await collect(runScript(scriptedPool({ size: 1, leaveOneFree: UPLOAD_KINDS }), "count", { kind: "decode" })),
    ).toHaveLength(1);
  });

  test("starts a second worker when one is busy", async () => {
    const pool = scriptedPool({ size: 2 });
    const first = await collect(runScript(pool, "count"));
    expect(await collect(runScript(pool, "count"))).toEqual(first);
    const threads = await Promise.all([
      collect(runScript(pool, "sleep", { amount: 100 })),
      collect(runScript(pool, "sleep", { amount: 100 })),
    ]);
    expect(new Set(threads.flat()).size).toBe(2);
  });

  test("moves the buffers named in transfer", async () => {
    const bytes = new Uint8Array(1000);
    expect((await collect(runScript(scriptedPool(), "length", { bytes, transfer: [bytes.buffer] })))[0]).toBe(1000);
    expect(bytes.length).toBe(0);
  });

  test("survives input that cannot be sent", async () => {
    const pool = scriptedPool();
    const job = { kind: "a", script: "count", amount: 0, bytes: (() => {}) as never };
    expect(await failure(pool.run(job))).toMatchObject({ name: "DataCloneError" });
    expect(await collect(runScript(pool, "count"))).toHaveLength(1);
  });

  test("can be closed twice, and fails all remaining jobs", async () => {
    const pool = scriptedPool();
    const runningJob = failure(runScript(pool, "hang"));
    const waitingJob = failure(runScript(pool, "count"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Promise.all([pool.close(), pool.close()]);
    expect(await runningJob).toMatchObject({ kind: "closed" });
    expect(await waitingJob).toMatchObject({ kind: "closed" });
    expect(await failure(runScript(pool, "count"))).toMatchObject({ kind: "closed" });
  });

  test("refuses an unknown kind of job", async () => {
    const pool = scriptedPool({ entry: workerEntry });
    expect(await failure(runScript(pool, "count", { kind: "no-such-kind" }))).toMatchObject({
      kind: "failed",
      message: 'unknown kind of job: "no-such-kind"',
    });
  });
});

describe("an idle worker pool that was never closed", () => {
  for (const runtime of runtimes) {
    test.skipIf(runtime.missing)(
      `lets the process end after speaking and decoding, on ${runtime.title}`,
      { timeout: 30_000 },
      async () => {
        const script = fileURLToPath(new URL("./leave-open.ts", import.meta.url));
        const [program = "", ...args] = [...runtime.command, script];
        const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], timeout: 20_000 });
        let output = "";
        child.stdout.on("data", (bytes) => {
          output += String(bytes);
        });
        const code = await new Promise((resolve) => child.on("close", resolve));
        expect({ code, output }).toEqual({
          code: 0,
          output: "en-US-1 spoke well\npt-BR-1 spoke well\ndecoded 3000 ms\n",
        });
      },
    );
  }
});
