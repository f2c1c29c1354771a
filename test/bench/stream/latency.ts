import type { Runtime } from "../../support/runtimes.ts";
import { progress, type Row } from "../benchmark.ts";
import { pause } from "../many-calls.ts";
import { quantile } from "../median.ts";
import { type AudioSocket, message, openAudioSocket } from "./audio-socket.ts";
import { addImpulse, HELD_MS, ImpulseFinder } from "./impulses.ts";
import type { Passed } from "./marked-network.ts";
import { type StreamServer, startStreamServer } from "./stream-server.ts";

const CLIENT_RATE = 16_000;
const FRAME_SAMPLES = 320;
/** From one message of a client to the next: longer than it takes until it is played. */
const [MIN_MS, MAX_MS] = [60, 120] as const;
const WORST_P99_MS = 25;
const SETTLE_MS = 1_500;

/** A client that sends occasional impulses, and records when others arrive. */
interface Client {
  readonly socket: AudioSocket;
  readonly callId: string;
  /** ms of this process's own clock. */
  readonly sent: number[];
  readonly heard: number[];
}

/** Latency of impulses in each direction under one runtime. */
export async function latencyRows(
  runtime: Runtime,
  sampleRate: 8000 | 16000,
  streams: number,
  seconds: number,
): Promise<Row[]> {
  progress(`${runtime.name}: ${streams} streams, legs of ${sampleRate} Hz`);
  const server = await startStreamServer(runtime, { sampleRate, marked: true });
  try {
    const urls = await server.place(await server.link(streams));
    const clients = await Promise.all(urls.map(connect));
    await server.talking(streams);
    await pause(SETTLE_MS);
    await server.begin();
    await server.impulses(true);
    await sendImpulses(clients, seconds);
    await server.impulses(false);
    await pause(SETTLE_MS); // impulses in flight arrive
    const [ahead, passed] = [await clockAhead(server), await server.passed()];
    for (const { socket } of clients) socket.destroy();
    const ways = clients.map((client) => waysOf(client, passed[client.callId], ahead));
    const title = `${runtime.name}, legs of ${sampleRate / 1000} kHz`;
    return [
      row(
        `${title}: from the callee's audio to the message`,
        ways.map(({ back }) => back),
      ),
      row(
        `${title}: from the client's message to the frame`,
        ways.map(({ forth }) => forth),
      ),
    ];
  } finally {
    await server.stop();
  }
}

async function connect(url: string): Promise<Client> {
  const heard: number[] = [];
  const finder = new ImpulseFinder(CLIENT_RATE, "up");
  const frame = new Int16Array(FRAME_SAMPLES);
  const socket = await openAudioSocket(url, {
    audio(bytes) {
      const now = performance.now();
      for (let i = 0; i < frame.length; i++) frame[i] = bytes.readInt16LE(2 * i);
      for (let count = finder.count(frame); count > 0; count--) heard.push(now);
    },
  });
  return { socket, callId: /call_\w+/.exec(url)?.[0] ?? "", sent: [], heard };
}

/** Each client sends messages of 20 ms, each with an impulse, on its own schedule. */
async function sendImpulses(clients: readonly Client[], seconds: number): Promise<void> {
  // Nothing follows a message at once, so its last samples stay in the resampler: impulses keep away from them.
  const messages = Array.from({ length: 64 }, (_, n) => {
    const samples = new Int16Array(FRAME_SAMPLES);
    addImpulse(samples, (n / 64) * (1 - HELD_MS / 20));
    return message(new Uint8Array(samples.buffer));
  });
  const wait = (): number => MIN_MS + Math.random() * (MAX_MS - MIN_MS);
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    clients.map(async ({ socket, sent }) => {
      for (await pause(wait()); performance.now() < end; await pause(wait())) {
        sent.push(performance.now());
        socket.write(messages[Math.floor(Math.random() * messages.length)]!);
      }
    }),
  );
}

/** Lead of the server's clock over ours, ms, measured by the fastest of many responses. */
async function clockAhead(server: StreamServer): Promise<number> {
  let [best, ahead] = [Infinity, 0];
  for (let n = 0; n < 200; n++) {
    const asked = performance.now();
    const theirs = await server.now();
    const took = performance.now() - asked;
    if (took < best) [best, ahead] = [took, theirs - asked - took / 2];
  }
  return ahead;
}

/** @throws {Error} an impulse was lost, or heard twice */
function waysOf(
  { callId, sent, heard }: Client,
  { entered, left }: Passed = { entered: [], left: [] },
  ahead: number,
): { back: number[]; forth: number[] } {
  if (entered.length !== heard.length || sent.length !== left.length)
    throw new Error(
      `${callId}: ${entered.length} impulses were spoken, ${heard.length} came; ${sent.length} were sent, ${left.length} played`,
    );
  return {
    back: heard.map((at, n) => at - (entered[n]! - ahead)),
    forth: left.map((at, n) => at - ahead - sent[n]!),
  };
}

function row(what: string, streams: readonly (readonly number[])[]): Row {
  const all = streams.flat();
  const p99 = quantile(all, 0.99);
  return {
    what: `${what}, p99`,
    measured: `${p99.toFixed(1)} ms (p50 ${quantile(all, 0.5).toFixed(1)} ms, ${all.length} impulses)`,
    wanted: `≤ ${WORST_P99_MS} ms`,
    reached: p99 <= WORST_P99_MS,
  };
}
