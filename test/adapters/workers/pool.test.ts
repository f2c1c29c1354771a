import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { UPLOAD_KINDS, workerEntry } from "../../../adapters/embedded/worker-pool.ts";
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

function run(pool: WorkerPool<Scripts>, script: string, { kind = "a", amount = 0, bytes, ...options }: Script = {}) {
  return pool.run({ kind, script, amount, bytes }, options);
}

async function all(pieces: AsyncIterable<unknown>): Promise<unknown[]> {
  const collected: unknown[] = [];
  for await (const piece of pieces) collected.push(piece);
  return collected;
}

const failure = (pieces: AsyncIterable<unknown>): Promise<unknown> => all(pieces).catch((error: unknown) => error);

describe("a worker pool", () => {
  test("yields the pieces of a job in order", async () => {
    const pieces = await all(run(scriptedPool(), "count", { amount: 5 }));
    expect(pieces.slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
  });

  test("reports a job's error, and its worker continues", async () => {
    const pool = scriptedPool();
    const [before] = await all(run(pool, "count"));
    expect(await failure(run(pool, "fail"))).toMatchObject({
      kind: "failed",
      thrown: "RangeError",
      message: "out of range",
    });
    expect(await all(run(pool, "count"))).toEqual([before]);
  });

  test.each(["crash", "exit"])("replaces a worker that ends by %s", async (script) => {
    const pool = scriptedPool();
    const [before] = await all(run(pool, "count"));
    expect(await failure(run(pool, script))).toMatchObject({ name: "PoolError", kind: "crashed" });
    const [after] = await all(run(pool, "count"));
    expect(after).not.toBe(before);
  });

  test("ends and replaces a worker whose job returns no piece in time", async () => {
    const pool = scriptedPool();
    expect(await failure(run(pool, "hang", { timeoutMs: 100 }))).toMatchObject({ kind: "timeout" });
    expect(await all(run(pool, "count"))).toHaveLength(1);
  });

  test("fails jobs of a missing worker file", async () => {
    const pool = scriptedPool({ entry: new URL("./no-such-worker.ts", import.meta.url) });
    expect(await failure(run(pool, "count"))).toMatchObject({ kind: "crashed" });
  });

  test("stops a job when its signal aborts, and keeps its worker", async () => {
    const pool = scriptedPool();
    const [before] = await all(run(pool, "count"));
    const reason = new Error("enough");
    const abort = new AbortController();
    setTimeout(() => abort.abort(reason), 50);
    expect(await failure(run(pool, "obedient", { signal: abort.signal }))).toBe(reason);
    expect(await all(run(pool, "count"))).toEqual([before]);
  });

  test("replaces a worker whose job ignores its cancellation", { timeout: 20_000 }, async () => {
    const pool = scriptedPool();
    const [before] = await all(run(pool, "count"));
    expect(await failure(run(pool, "hang", { signal: AbortSignal.timeout(50) }))).toMatchObject({
      name: "TimeoutError",
    });
    const [after] = await all(run(pool, "count"));
    expect(after).not.toBe(before);
  });

  test("takes a waiting job whose signal aborts out of the queue", async () => {
    const pool = scriptedPool();
    const abort = new AbortController();
    const order: string[] = [];
    const busy = all(run(pool, "sleep", { amount: 200 })).finally(() => order.push("busy"));
    const waiting = failure(run(pool, "count", { signal: abort.signal })).finally(() => order.push("waiting"));
    abort.abort();
    await waiting;
    expect(await busy).toHaveLength(1);
    expect(order).toEqual(["waiting", "busy"]);
  });

  test("refuses a job whose signal has aborted already", async () => {
    const reason = new Error("too late");
    expect(await failure(run(scriptedPool(), "count", { signal: AbortSignal.abort(reason) }))).toBe(reason);
  });

  test("stops a job when the loop over its pieces is left", async () => {
    const pool = scriptedPool();
    for await (const _ of run(pool, "count", { amount: 100 })) break;
    expect(await all(run(pool, "count"))).toHaveLength(1);
  });

  test("refuses a job when too many wait", async () => {
    const pool = scriptedPool({ maxWaiting: 2 });
    const running = [1, 2, 3].map(() => all(run(pool, "sleep", { amount: 50 })));
    expect(await failure(run(pool, "count"))).toMatchObject({ kind: "overloaded" });
    expect(await Promise.all(running)).toHaveLength(3);
  });

  test("lets kinds of jobs take turns", async () => {
    const pool = scriptedPool();
    const order: string[] = [];
    const note = async (kind: string) => {
      await all(run(pool, "sleep", { kind, amount: 5 }));
      order.push(kind);
    };
    await Promise.all(["flood", "flood", "flood", "flood", "speech", "speech"].map(note));
    expect(order).toEqual(["flood", "flood", "speech", "flood", "speech", "flood"]);
  });

  test("keeps one of two workers free", async () => {
    const pool = scriptedPool({ size: 2, leaveOneFree: UPLOAD_KINDS });
    const order: string[] = [];
    const note = async (kind: string, amount: number) => {
      await all(run(pool, "sleep", { kind, amount }));
      order.push(kind);
    };
    await Promise.all([
      note("decode", 500),
      note("inspect", 500),
      note("parse-body", 5),
      note("espeak", 5),
      note("flite", 5),
    ]);
    expect(order.slice(0, 2)).toEqual(["espeak", "flite"]);
    expect(order.slice(2)).toEqual(["decode", "inspect", "parse-body"]);
  });

  test("runs the limited kinds on its only worker", async () => {
    expect(
      await all(run(scriptedPool({ size: 1, leaveOneFree: UPLOAD_KINDS }), "count", { kind: "decode" })),
    ).toHaveLength(1);
  });

  test("starts a second worker when one is busy", async () => {
    const pool = scriptedPool({ size: 2 });
    const first = await all(run(pool, "count"));
    expect(await all(run(pool, "count"))).toEqual(first);
    const both = await Promise.all([
      all(run(pool, "sleep", { amount: 100 })),
      all(run(pool, "sleep", { amount: 100 })),
    ]);
    expect(new Set(both.flat()).size).toBe(2);
  });

  test("moves the buffers named in transfer", async () => {
    const bytes = new Uint8Array(1000);
    expect((await all(run(scriptedPool(), "length", { bytes, transfer: [bytes.buffer] })))[0]).toBe(1000);
    expect(bytes.length).toBe(0);
  });

  test("survives input that cannot be sent", async () => {
    const pool = scriptedPool();
    const job = { kind: "a", script: "count", amount: 0, bytes: (() => {}) as never };
    expect(await failure(pool.run(job))).toMatchObject({ name: "DataCloneError" });
    expect(await all(run(pool, "count"))).toHaveLength(1);
  });

  test("closes twice, failing all jobs left", async () => {
    const pool = scriptedPool();
    const running = failure(run(pool, "hang"));
    const waiting = failure(run(pool, "count"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Promise.all([pool.close(), pool.close()]);
    expect(await running).toMatchObject({ kind: "closed" });
    expect(await waiting).toMatchObject({ kind: "closed" });
    expect(await failure(run(pool, "count"))).toMatchObject({ kind: "closed" });
  });

  test("refuses an unknown kind of job", async () => {
    const pool = scriptedPool({ entry: workerEntry });
    expect(await failure(run(pool, "count", { kind: "unheard-of" }))).toMatchObject({
      kind: "failed",
      message: 'unknown kind of job: "unheard-of"',
    });
  });
});

describe("an idle worker pool that was never closed", () => {
  for (const runtime of runtimes) {
    test.skipIf(runtime.missing)(
      `has spoken and decoded, and lets the process end, on ${runtime.title}`,
      { timeout: 30_000 },
      async () => {
        const script = fileURLToPath(new URL("./leave-open.ts", import.meta.url));
        const [program = "", ...args] = [...runtime.command, script];
        const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], timeout: 20_000 });
        let printed = "";
        child.stdout.on("data", (bytes) => {
          printed += String(bytes);
        });
        const code = await new Promise((resolve) => child.on("close", resolve));
        expect({ code, printed }).toEqual({
          code: 0,
          printed: "en-US-1 spoke well\npt-BR-1 spoke well\ndecoded 3000 ms\n",
        });
      },
    );
  }
});
