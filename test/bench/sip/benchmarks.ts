import type { RuntimeName } from "../../support/runtimes.ts";
import type { Benchmark, Row } from "../benchmark.ts";
import { measureUnder } from "../under-runtime.ts";
import { startEcho } from "./echo.ts";
import { IMPAIRED_CALLS } from "./impairments.ts";

const CALLS = `All calls are in one thread of one process: sockets, RTP, RTCP, codec, jitter buffer, playout and the one wheel. Each
sends a packet every 20 ms to an echo, a process of its own on the other core, and hears it come back. More and more
calls are added until a number fails twice: p99 of the lateness over 5 ms (how much later than its place on the absolute
schedule a packet was handed to the socket), a packet in a hundred not back in the window, or a playout that ran dry.`;

/** The benchmarks of the SIP adapter, by name. */
export const SIP_BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  "sip-g711": {
    title: "Calls at once with G.711, against bare datagrams",
    method: `${CALLS} The
baseline (\`test/bench/sip/bare-loop.ts\`) is the same number of connected sockets in the same runtime that send packets of the
same size on the same schedule and count what comes back, without codec, order or statistics.`,
    remarks: `A packet each way costs a call 16 to 18 µs of processor on Node and Bun, against 9 to 10 of the bare loop, which does nothing but send and count: codec,
jitter buffer, playout and statistics are the rest. Near the end of the core whatever makes packets late for a moment (adding calls is
enough) takes long to be caught up with: numbers that failed in a first try held in a second one. On Deno our adapter reads its sockets at less
cost than \`node:dgram\`, which the bare loop uses.`,
    options: {
      from: { meaning: "flows to begin with", value: 200, quick: 50 },
      seconds: { meaning: "length of each try", value: 10, quick: 2 },
    },
    run: (options) => besideEcho(["node26", "bun", "deno"], "g711-calls", options),
  },
  "sip-srtp": {
    title: "Calls at once with G.711 under SRTP",
    method: `${CALLS} Keys by SDES, suite
AES_CM_128_HMAC_SHA1_80, both directions.`,
    remarks: `The processor is not the limit: Node used half a core when its packets became late. What makes them late there for a moment has not been found
beyond one cause: calls that began together made their keystream, eight packets' at a time, in the same frame. Since that is spread, Bun carried 478 and 566
calls in two runs, against 401 before; the same count varies by that much from run to run.`,
    options: {
      from: { meaning: "calls to begin with", value: 200, quick: 50 },
      seconds: { meaning: "length of each try", value: 10, quick: 2 },
    },
    run: (options) => besideEcho(["node26", "bun", "deno"], "srtp-calls", options),
  },
  "sip-g722": {
    title: "Calls at once with G.722",
    method: `${CALLS} G.722 at
64 kbit/s, encoded and decoded by each call.`,
    options: {
      from: { meaning: "calls to begin with", value: 50, quick: 10 },
      seconds: { meaning: "length of each try", value: 10, quick: 2 },
    },
    run: (options) => besideEcho(["node26", "bun"], "g722-calls", options),
  },
  "sip-opus": {
    title: "Calls at once with Opus",
    method: `${CALLS} Opus at
16 kHz, 20 kbit/s, complexity 5, with in-band redundancy (\`libopus-wasm\`), encoded and decoded by each call.`,
    options: {
      from: { meaning: "calls to begin with", value: 20, quick: 5 },
      seconds: { meaning: "length of each try", value: 10, quick: 2 },
    },
    run: (options) => besideEcho(["node26", "bun"], "opus-calls", options),
  },
  "sip-setup": {
    title: "Call set-ups over a trunk",
    method: `The whole stack in one process: use cases, SQLite, dispatcher, sessions, speech, SIP over UDP, audio in a worker.
\`FIXED_TTS\` calls are placed open-loop, on a fixed schedule. The callees (\`test/bench/sip/callees.ts\`) are a process of
their own that answers every INVITE at once and hangs up 200 ms after the ACK. The rate counts calls that went this whole
way, up to the last BYE; the wait runs from the call of \`calls.create\` (what \`POST /v1/calls\` calls) to the INVITE in the
other process.`,
    remarks: `Two durable commits lie between the order and the INVITE, the call and the dispatcher's claim, on the thread that also speaks SIP. The claim carries the
mark that the call is being dialled, so the intent costs nothing: the version before it had 8.6 ms (p50 1.6 ms) on Node and 10.7 ms (p50 1.5 ms) on Bun
in the same hour. The commits take half a millisecond each, 5 ms at most. The tail comes from what stops that thread: code that is being compiled, which is why the first
seconds have a row of their own, and on Node two or three major garbage collections of 15 to 25 ms, each with some 100 ms of marking around it,
while seven thousand calls are remembered for the 32 s of their transactions. The rate divides by the time up to the last BYE, a second and a
half after the last order.`,
    options: {
      rate: { meaning: "calls placed per second", value: 220, quick: 50 },
      seconds: { meaning: "length of the window", value: 20, quick: 4 },
    },
    run: (options) => besideEcho(["node26", "bun"], "set-ups", options),
  },
  "sip-memory": {
    title: "Memory per live call over a trunk",
    method: `What the process holds after a full garbage collection (heap and buffers outside of it), with 50 calls talking and with
many more talking, divided by the calls that came on top: the stored call and its session, INVITE dialog, RTP session with
its sockets, jitter buffer and playout, 34 s after the last answer, when the transactions of the set-up are over. Audio in
this thread. All hear the same text, so its speech is in memory once and
counted before; the text itself, 4,000 characters, and the instance with its line are part of what is measured.`,
    options: { calls: { meaning: "calls that come on top", value: 500, quick: 60 } },
    run: (options) => besideEcho(["node26", "bun"], "call-memory", options),
  },
  "sip-impairments": IMPAIRED_CALLS,
};

/** Measures a module next to an echo, whose port is passed as the option `echo`. */
async function besideEcho(
  names: readonly RuntimeName[],
  module: string,
  options: Readonly<Record<string, number>>,
): Promise<readonly Row[]> {
  const echo = await startEcho();
  try {
    const { href } = new URL(`./${module}.ts`, import.meta.url);
    const rows = await measureUnder(names, href, { ...options, echo: echo.port });
    return [...rows, { what: "echo on the other core", measured: `in ${echo.language}` }];
  } finally {
    await echo.stop();
  }
}
