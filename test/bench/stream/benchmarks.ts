import { type Runtime, type RuntimeName, runtimes } from "../../support/runtimes.ts";
import type { Benchmark, Row } from "../benchmark.ts";
import { latencyRows } from "./latency.ts";
import { manyRows } from "./many.ts";
import { processorRows } from "./processor.ts";

const NAMES: readonly RuntimeName[] = ["node26", "bun", "deno"];

const STREAMS = `The server is a process of its own: the whole stack with its HTTP server and the simulated network. The clients are
another process, on the other core, with WebSockets on bare sockets (\`test/bench/stream/audio-socket.ts\`).`;

/** The benchmarks of live streams, by name. */
export const STREAM_BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  "stream-latency": {
    title: "What a live stream adds to the way of the audio",
    method: `${STREAMS} All get the
callee's audio, 50 messages a second, and send a message of 20 ms every 60 to 120 ms, so that it finds an empty queue. Both
sides put impulses into silence, and find the other's:

- back: from the moment at which the leg hands a frame to the core (\`sink.write\`) to the moment at which the client has read
  the message that holds the impulse
- forth: from the moment at which the client hands the message to its socket to the moment at which the leg has read the
  impulse (\`source.read\`); a leg reads every 20 ms, so this is 10 ms on average even when nothing takes time

An impulse that is lost, or comes twice, ends the benchmark. With legs of 8 kHz, as on most telephone networks, audio is resampled both ways
to and from the client's 16 kHz. The two clocks are compared by asking for the time 200 times and taking the quickest answer.`,
    options: {
      streams: { meaning: "streams at once", value: 100, quick: 20 },
      seconds: { meaning: "length of each window", value: 20, quick: 3 },
    },
    run: ({ streams = 0, seconds = 0 }) =>
      under(async (runtime) => [
        ...(await latencyRows(runtime, 16_000, streams, seconds)),
        ...(await latencyRows(runtime, 8_000, streams, seconds)),
      ]),
  },
  "stream-many": {
    title: "Live streams at once in one process, both ways",
    method: `${STREAMS} Every
client sends 20 ms of PCM at 16 kHz, 50 times a second, and gets the callee's audio as often. The network keeps what each callee
heard. Lateness: how much later than its place on the absolute 20 ms schedule a frame was exchanged with a leg, both directions.`,
    options: {
      streams: { meaning: "streams at once", value: 300, quick: 50 },
      seconds: { meaning: "length of the window", value: 30, quick: 4 },
    },
    run: ({ streams = 0, seconds = 0 }) => under((runtime) => manyRows(runtime, streams, seconds)),
  },
  "stream-cpu": {
    title: "Processor per live stream, against a bare echo",
    method: `${STREAMS} The
baseline (\`test/bench/stream/echo-server.ts\`) is a WebSocket server of the same runtime that sends every message back (on Node with
\`ws\`); the same clients send it the same messages, 20 ms of PCM at 16 kHz 50 times a second each, and get as many back. Processor time
of the server's process for a message each way, in rounds that alternate between the two; the median of the ratios counts. The
network does not keep what callees hear; its clock, its far ends and our detectors of speech and keys are in the figure.`,
    options: {
      streams: { meaning: "streams at once", value: 100, quick: 30 },
      rounds: { meaning: "rounds, each of them both servers once", value: 5, quick: 2 },
      seconds: { meaning: "length of one server's turn", value: 5, quick: 2 },
    },
    run: ({ streams = 0, rounds = 0, seconds = 0 }) =>
      under((runtime) => processorRows(runtime, streams, rounds, seconds)),
  },
};

/** Rows under one runtime after the other. */
async function under(measure: (runtime: Runtime) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of NAMES) {
    const runtime = runtimes.find((one) => one.name === name)!;
    if (runtime.missing === undefined) rows.push(...(await measure(runtime)));
  }
  return rows;
}
