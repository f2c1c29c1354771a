import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { serverAdapter } from "../../../adapters/cli/serve/server-adapter.ts";
import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";
import type { Runtime } from "../../support/runtimes.ts";
import { ME, startManyCalls } from "../many-calls.ts";
import { MarkedNetwork, type Passed } from "./marked-network.ts";

/** Options of a server. */
export interface StreamServerOptions {
  /** Sample rate of the simulated legs, Hz. Default: 16000. */
  readonly sampleRate?: 8000 | 16000;
  /** Callees send impulses, and impulses in both directions are recorded. */
  readonly marked?: boolean;
  /** The simulated network keeps what callees hear. */
  readonly recorded?: boolean;
  /** Default: an hour. */
  readonly maxDurationMs?: number;
}

/** Memory after a full garbage collection, bytes. */
export interface MemoryFigures {
  readonly heap: number;
  /** Buffers outside of the heap; 0 if the heap counts them. */
  readonly external: number;
  readonly rss: number;
}

/** A whole Ringport on the simulated network, ten times as fast before the answer, in a separate process. */
export interface StreamServer {
  readonly url: string;
  readonly pid: number;
  /** Creates this many linked instances; returns their ids. */
  link(count: number): Promise<string[]>;
  /** Places a DYNAMIC_STREAM call from each instance; answers the addresses of their streams, callee's audio included. */
  place(instances: readonly string[], to?: string): Promise<string[]>;
  /** Resolves when this many calls have running audio. */
  talking(count: number): Promise<void>;
  /** Forgets how late frames were. */
  begin(): Promise<void>;
  /** Lateness of frames since `begin`. */
  lateness(): Promise<LatenessFigures>;
  memory(): Promise<MemoryFigures>;
  /** Its `performance.now()`. */
  now(): Promise<number>;
  /** Callees make impulses, or do not. */
  impulses(on: boolean): Promise<void>;
  /** When impulses passed, by call. */
  passed(): Promise<Readonly<Record<string, Passed>>>;
  stop(): Promise<void>;
}

/** Commands of the process: one per line, as JSON `[name, ...arguments]`. */
type Commands = Record<string, (...args: never[]) => unknown>;

const SELF = fileURLToPath(import.meta.url);
const POLL_MS = 100;

/** Starts one under a runtime. */
export async function startStreamServer(runtime: Runtime, options: StreamServerOptions = {}): Promise<StreamServer> {
  const [program, ...flags] = runtime.command;
  if (program === undefined) throw new Error(runtime.missing);
  const collect = { deno: ["--v8-flags=--expose-gc"], bun: [], node22: ["--expose-gc"], node26: ["--expose-gc"] };
  const child = spawn(program, [...flags, ...collect[runtime.name], SELF, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const answer = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the server ended with ${child.exitCode ?? child.signalCode}`);
    return JSON.parse(value);
  };
  const url = (await answer()) as string;
  let turn: Promise<unknown> = Promise.resolve();
  const ask = <T>(...command: readonly unknown[]): Promise<T> => {
    const asked = turn.then(() => {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      return answer();
    });
    turn = asked.catch(() => {});
    return asked as Promise<T>;
  };
  return {
    url,
    pid: child.pid ?? 0,
    link: (count) => ask("link", count),
    async place(instances, to = "+12025550100") {
      const calls = await ask<string[]>("place", instances, to);
      return calls.map((id) => `${url}/v1/calls/${id}/stream?audio=callee&encoding=pcm_s16le&sample_rate=16000`);
    },
    async talking(count) {
      while ((await ask("size")) !== count) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    },
    begin: () => ask("begin"),
    lateness: () => ask("lateness"),
    memory: () => ask("memory"),
    now: () => ask("now"),
    impulses: (on) => ask("impulses", on),
    passed: () => ask("passed"),
    async stop() {
      child.stdin.end();
      const killTimer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await exited;
      clearTimeout(killTimer);
    },
  };
}

/** The process itself, if this file is the program. */
async function live({ sampleRate = 16_000, marked, recorded, maxDurationMs }: StreamServerOptions): Promise<void> {
  const network = new MarkedNetwork();
  const world = await startManyCalls({
    timeScale: 0.1,
    simulated: { sampleRate, ...(recorded ? {} : { maxRecordingMs: 0 }) },
    ...(marked ? { through: (simulated) => network.of(simulated) } : {}),
    more: {
      streamPreview: true,
      authenticate: async () => ME,
      maxDurationMs: maxDurationMs ?? 3_600_000,
      // Hundreds of clients attach in succession, on a machine that is busy with their calls.
      streamAttachMs: 60_000,
    },
  });
  const { clock } = world.network;
  const instances: string[] = [];
  const commands = {
    async link(count: number) {
      instances.push(...(await world.link(Math.max(0, count - instances.length))));
      return instances.slice(0, count);
    },
    async place(from: readonly string[], to: string) {
      const type = "DYNAMIC_STREAM" as const;
      const calls = from.map((instanceId) => ({ instanceId, type, target: { phoneNumber: to } }));
      return (await world.place(calls)).map(({ id }) => id);
    },
    size: () => clock.size,
    begin: () => clock.lateness.reset(),
    lateness() {
      const { frames, p50, p99, max } = clock.lateness;
      return { frames, p50, p99, max };
    },
    memory,
    now: () => performance.now(),
    impulses(on: boolean) {
      network.hushed = !on;
    },
    passed: () => network.passed,
  } satisfies Commands;

  const { serve } = await serverAdapter();
  const served = await serve(world.ringport, { port: 0 });
  console.log(JSON.stringify(served.url));
  for await (const line of createInterface(process.stdin)) {
    const [name, ...args] = JSON.parse(line) as [keyof typeof commands, ...never[]];
    const run = commands[name] as (...args: never[]) => unknown;
    console.log(JSON.stringify((await run(...args)) ?? null));
  }
  await served.close();
  await world.stop();
  process.exit(0);
}

function memory(): MemoryFigures {
  const { Bun, gc } = globalThis as { Bun?: { gc(force: boolean): void }; gc?: () => void };
  if (Bun) Bun.gc(true);
  else gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed, external: Bun ? 0 : external, rss };
}

if (process.argv[1] === SELF) await live(JSON.parse(process.argv[2] ?? "{}"));
