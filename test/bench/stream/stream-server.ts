import process from "node:process";
import { createInterface } from "node:readline";
import { serverAdapter } from "../../../adapters/cli/serve/server-adapter.ts";
import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";
import type { Runtime } from "../../support/runtimes.ts";
import { commandOf, isProgram, startProgram } from "../harness/programs.ts";
import { memoryFigures } from "../harness/resources.ts";
import { ME, pause, type SimulatedWorld, simulatedWorld } from "../harness/world.ts";
import { MarkedNetwork, type PassedImpulses } from "./marked-network.ts";

/** Options of a server. */
export interface StreamServerOptions {
  /** Sample rate of the simulated legs, Hz. Default: 16000. */
  readonly sampleRate?: 8000 | 16000;
  /** True if callees send impulses, and impulses in both directions are recorded. */
  readonly sendsImpulses?: boolean;
  /** True if the simulated network records what callees hear. */
  readonly isRecorded?: boolean;
  /** Maximum duration of a call. Default: an hour. */
  readonly maxDurationMs?: number;
}

/** A Ringport on the simulated network in a separate process; its callees answer ten times as fast. */
export interface StreamServer {
  readonly url: string;
  readonly pid: number;
  /** Runs one of the {@link Commands} in the process. */
  ask<Name extends keyof Commands>(
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<Awaited<ReturnType<Commands[Name]>>>;
  /**
   * Places a DYNAMIC_STREAM call from each instance; returns the addresses of their streams, which include the callee's
   * audio.
   */
  place(instances: readonly string[], to?: string): Promise<string[]>;
  /** Resolves when the audio of this many calls is running. */
  untilActive(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Commands of the process: one per line, as JSON `[name, ...arguments]`. */
type Commands = ReturnType<typeof commandsOf>;

const POLL_MS = 100;

/** Starts a server under a runtime. */
export async function startStreamServer(runtime: Runtime, options: StreamServerOptions = {}): Promise<StreamServer> {
  const program = startProgram(commandOf(runtime, import.meta.url, [JSON.stringify(options)]));
  const url = JSON.parse(await program.line()) as string;
  const ask: StreamServer["ask"] = async (...line) => JSON.parse(await program.request(JSON.stringify(line)));
  return {
    url,
    pid: program.pid,
    ask,
    async place(instances, to = "+12025550100") {
      const calls = await ask("place", instances, to);
      return calls.map((id) => `${url}/v1/calls/${id}/stream?audio=callee&encoding=pcm_s16le&sample_rate=16000`);
    },
    async untilActive(count) {
      while ((await ask("size")) !== count) await pause(POLL_MS);
    },
    stop: () => program.end(),
  };
}

function commandsOf({ network: { clock }, link, place }: SimulatedWorld, network: MarkedNetwork) {
  const instances: string[] = [];
  return {
    /** Creates linked instances up to this number; returns their ids. */
    async link(count: number) {
      instances.push(...(await link(Math.max(0, count - instances.length))));
      return instances.slice(0, count);
    },
    async place(instanceIds: readonly string[], to: string) {
      const type = "DYNAMIC_STREAM" as const;
      const calls = instanceIds.map((instanceId) => ({ instanceId, type, target: { phoneNumber: to } }));
      return (await place(calls)).map(({ id }) => id);
    },
    size: () => clock.size,
    /** Resets the recorded frame delays. */
    begin: () => clock.lateness.reset(),
    /** Delays of frames since `begin`. */
    lateness(): LatenessFigures {
      const { frames, p50, p99, max } = clock.lateness;
      return { frames, p50, p99, max };
    },
    memory: memoryFigures,
    now: () => performance.now(),
    /** Starts or stops the callees' impulses. */
    impulses(isOn: boolean) {
      network.isSilent = !isOn;
    },
    /** Times at which impulses passed, by call. */
    passed: (): Readonly<Record<string, PassedImpulses>> => network.passed,
  };
}

/** Runs the server, if this file is the program. */
async function runServer({
  sampleRate = 16_000,
  sendsImpulses,
  isRecorded,
  maxDurationMs,
}: StreamServerOptions): Promise<void> {
  const network = new MarkedNetwork();
  const world = await simulatedWorld({
    timeScale: 0.1,
    simulated: { sampleRate, ...(isRecorded ? {} : { maxRecordingMs: 0 }) },
    ...(sendsImpulses ? { wrapNetwork: (simulated) => network.withImpulses(simulated) } : {}),
    options: {
      streamPreview: true,
      authenticate: async () => ME,
      maxDurationMs: maxDurationMs ?? 3_600_000,
      // Hundreds of clients attach in succession, on a machine that is busy with their calls.
      streamAttachMs: 60_000,
    },
  });
  const commands = commandsOf(world, network);
  const { serve } = await serverAdapter();
  const listening = await serve(world.ringport, { port: 0 });
  console.log(JSON.stringify(listening.url));
  for await (const line of createInterface(process.stdin)) {
    const [name, ...args] = JSON.parse(line) as [keyof typeof commands, ...never[]];
    const run = commands[name] as (...args: never[]) => unknown;
    console.log(JSON.stringify((await run(...args)) ?? null));
  }
  await listening.close();
  await world.stop();
  process.exit(0);
}

if (isProgram(import.meta.url)) await runServer(JSON.parse(process.argv[2] ?? "{}"));
