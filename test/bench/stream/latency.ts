import { type AudioSocket, message, openAudioSocket } from "../../../adapters/cli/bench/audio-socket.ts";
import type { Runtime } from "../../support/runtimes.ts";
import { benchmark, percentile, progress, type Row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, underEach } from "../harness/programs.ts";
import { pause } from "../harness/world.ts";
import { addImpulse, ImpulseFinder, RESAMPLER_DELAY_MS } from "./impulses.ts";
import type { PassedImpulses } from "./marked-network.ts";
import { type StreamServer, startStreamServer } from "./stream-server.ts";

const CLIENT_RATE = 16_000;
const FRAME_SAMPLES = 320;
/** Interval between a client's messages: longer than the time until a message is played. */
const [MIN_MS, MAX_MS] = [60, 120] as const;
const MAX_P99_MS = 25;
const SETTLE_MS = 1_500;

/** A client that sends occasional impulses, and records when the callee's impulses arrive. */
interface Client {
  readonly socket: AudioSocket;
  readonly callId: string;
  /** Times, ms of this process's own clock. */
  readonly sentAt: number[];
  readonly heardAt: number[];
}

/** Latency that a live stream adds to the audio. */
export const STREAM_LATENCY = benchmark({
  options: {
    streams: { meaning: "concurrent streams", value: 100, quick: 20 },
    seconds: { meaning: "length of each window", value: 20, quick: 3 },
  },
  run: ({ streams, seconds }) =>
    underEach(ALL_RUNTIMES, async (runtime) => [
      ...(await latencyRows(runtime, 16_000, streams, seconds)),
      ...(await latencyRows(runtime, 8_000, streams, seconds)),
    ]),
});

/** Latencies of impulses, each way, with legs of one sample rate. */
async function latencyRows(
  runtime: Runtime,
  sampleRate: 8000 | 16000,
  streams: number,
  seconds: number,
): Promise<Row[]> {
  progress(`${runtime.name}: ${streams} streams, legs of ${sampleRate} Hz`);
  const server = await startStreamServer(runtime, { sampleRate, sendsImpulses: true });
  try {
    const urls = await server.place(await server.ask("link", streams));
    const clients = await Promise.all(urls.map(connect));
    await server.untilActive(streams);
    await pause(SETTLE_MS);
    await server.ask("begin");
    await server.ask("impulses", true);
    await sendImpulses(clients, seconds);
    await server.ask("impulses", false);
    await pause(SETTLE_MS); // impulses in flight arrive
    const [aheadMs, passed] = [await clockAhead(server), await server.ask("passed")];
    for (const { socket } of clients) socket.destroy();
    const latencies = clients.map((client) => latenciesOf(client, passed[client.callId], aheadMs));
    const rowOf = (figure: string, times: readonly number[]): Row =>
      percentile(`legs of ${sampleRate / 1000} kHz: ${figure}`, times, 0.99, MAX_P99_MS, `, ${times.length} impulses`);
    return [
      rowOf(
        "from the callee's audio to the message",
        latencies.flatMap(({ inboundMs }) => inboundMs),
      ),
      rowOf(
        "from the client's message to the frame",
        latencies.flatMap(({ outboundMs }) => outboundMs),
      ),
    ];
  } finally {
    await server.stop();
  }
}

async function connect(url: string): Promise<Client> {
  const heardAt: number[] = [];
  const finder = new ImpulseFinder(CLIENT_RATE, "up");
  const frame = new Int16Array(FRAME_SAMPLES);
  const socket = await openAudioSocket(url, {
    audio(bytes) {
      const now = performance.now();
      for (let i = 0; i < frame.length; i++) frame[i] = bytes.readInt16LE(2 * i);
      for (let count = finder.count(frame); count > 0; count--) heardAt.push(now);
    },
  });
  return { socket, callId: /call_\w+/.exec(url)?.[0] ?? "", sentAt: [], heardAt };
}

/** Each client sends messages of 20 ms, each with an impulse, on its own schedule. */
async function sendImpulses(clients: readonly Client[], seconds: number): Promise<void> {
  // No message follows immediately, so the last samples stay in the resampler; no impulse is among them.
  const messages = Array.from({ length: 64 }, (_, n) => {
    const samples = new Int16Array(FRAME_SAMPLES);
    addImpulse(samples, (n / 64) * (1 - RESAMPLER_DELAY_MS / 20));
    return message(new Uint8Array(samples.buffer));
  });
  const randomPauseMs = (): number => MIN_MS + Math.random() * (MAX_MS - MIN_MS);
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    clients.map(async ({ socket, sentAt }) => {
      for (await pause(randomPauseMs()); performance.now() < end; await pause(randomPauseMs())) {
        sentAt.push(performance.now());
        socket.write(messages[Math.floor(Math.random() * messages.length)]!);
      }
    }),
  );
}

/** Lead of the server's clock over ours, ms, measured by the fastest of many responses. */
async function clockAhead(server: StreamServer): Promise<number> {
  let [bestMs, aheadMs] = [Infinity, 0];
  for (let n = 0; n < 200; n++) {
    const sentAt = performance.now();
    const serverNow = await server.ask("now");
    const roundTripMs = performance.now() - sentAt;
    if (roundTripMs < bestMs) [bestMs, aheadMs] = [roundTripMs, serverNow - sentAt - roundTripMs / 2];
  }
  return aheadMs;
}

/** @throws {Error} an impulse was lost, or heard twice */
function latenciesOf(
  { callId, sentAt, heardAt }: Client,
  { enteredAt, leftAt }: PassedImpulses = { enteredAt: [], leftAt: [] },
  aheadMs: number,
): { inboundMs: number[]; outboundMs: number[] } {
  if (enteredAt.length !== heardAt.length || sentAt.length !== leftAt.length)
    throw new Error(
      `${callId}: ${enteredAt.length} impulses were spoken, ${heardAt.length} heard; ${sentAt.length} were sent, ${leftAt.length} played`,
    );
  return {
    inboundMs: heardAt.map((at, n) => at - (enteredAt[n]! - aheadMs)),
    outboundMs: leftAt.map((at, n) => at - aheadMs - sentAt[n]!),
  };
}
