import type { Runtime } from "../../support/runtimes.ts";
import { benchmark, percentile, progress, type Row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, underEach } from "../harness/programs.ts";
import { pause } from "../harness/world.ts";
import { type AudioSocket, message, openAudioSocket } from "./audio-socket.ts";
import { addImpulse, HELD_MS, ImpulseFinder } from "./impulses.ts";
import type { Passed } from "./marked-network.ts";
import { type StreamServer, startStreamServer } from "./stream-server.ts";

const CLIENT_RATE = 16_000;
const FRAME_SAMPLES = 320;
/** Interval between a client's messages: longer than the time until one is played. */
const [MIN_MS, MAX_MS] = [60, 120] as const;
const MAX_P99_MS = 25;
const SETTLE_MS = 1_500;

/** A client that sends occasional impulses, and records when others arrive. */
interface Client {
  readonly socket: AudioSocket;
  readonly callId: string;
  /** Times, ms of this process's own clock. */
  readonly sent: number[];
  readonly heard: number[];
}

/** Time that a live stream adds to the path of the audio. */
export const STREAM_LATENCY = benchmark({
  options: {
    streams: { meaning: "streams at once", value: 100, quick: 20 },
    seconds: { meaning: "length of each window", value: 20, quick: 3 },
  },
  run: ({ streams, seconds }) =>
    underEach(ALL_RUNTIMES, async (runtime) => [
      ...(await waysUnder(runtime, 16_000, streams, seconds)),
      ...(await waysUnder(runtime, 8_000, streams, seconds)),
    ]),
});

/** Times that impulses take, each way, with legs of one sample rate. */
async function waysUnder(runtime: Runtime, sampleRate: 8000 | 16000, streams: number, seconds: number): Promise<Row[]> {
  progress(`${runtime.name}: ${streams} streams, legs of ${sampleRate} Hz`);
  const server = await startStreamServer(runtime, { sampleRate, marked: true });
  try {
    const urls = await server.place(await server.ask("link", streams));
    const clients = await Promise.all(urls.map(connect));
    await server.talking(streams);
    await pause(SETTLE_MS);
    await server.ask("begin");
    await server.ask("impulses", true);
    await sendImpulses(clients, seconds);
    await server.ask("impulses", false);
    await pause(SETTLE_MS); // impulses in flight arrive
    const [ahead, passed] = [await clockAhead(server), await server.ask("passed")];
    for (const { socket } of clients) socket.destroy();
    const ways = clients.map((client) => waysOf(client, passed[client.callId], ahead));
    const way = (what: string, times: readonly number[]): Row =>
      percentile(`legs of ${sampleRate / 1000} kHz: ${what}`, times, 0.99, MAX_P99_MS, `, ${times.length} impulses`);
    return [
      way(
        "from the callee's audio to the message",
        ways.flatMap(({ back }) => back),
      ),
      way(
        "from the client's message to the frame",
        ways.flatMap(({ forth }) => forth),
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
  // No message follows immediately, so the last samples stay in the resampler: impulses keep away from them.
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
    const sentAt = performance.now();
    const theirs = await server.ask("now");
    const took = performance.now() - sentAt;
    if (took < best) [best, ahead] = [took, theirs - sentAt - took / 2];
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
