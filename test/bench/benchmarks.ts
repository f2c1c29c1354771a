import { AGENT_CALLS, AGENT_LATENCY } from "./agents/calls.ts";
import { ANSWERING_MACHINES } from "./answering-machines.ts";
import { AUDIO_ORDERS } from "./audio-orders.ts";
import { BATCHES } from "./batches/batches.ts";
import { CREATE } from "./create.ts";
import { DISPATCH } from "./dispatch.ts";
import { FAIRNESS } from "./fairness.ts";
import { FENCE } from "./fence.ts";
import type { Benchmark } from "./harness/benchmark.ts";
import { IDLE } from "./idle.ts";
import { LIST } from "./list.ts";
import { MEMORY, SIP_MEMORY } from "./memory.ts";
import { NEURAL } from "./neural/neural.ts";
import { QUOTA } from "./quota.ts";
import { READ } from "./read.ts";
import { SIP_SET_UPS, WHATSAPP_SET_UPS } from "./set-ups.ts";
import { SIMULATED_CALLS } from "./sim.ts";
import { SIP_CALLS_AT_ONCE } from "./sip/calls-at-once.ts";
import { IMPAIRED_CALLS } from "./sip/impairments.ts";
import { MEDIA_THREADS } from "./sip/media-threads.ts";
import { SPOKEN_ONCE } from "./spoken-once.ts";
import { STARTUP } from "./startup.ts";
import { STREAM_LATENCY } from "./stream/latency.ts";
import { STREAM_MANY } from "./stream/many.ts";
import { STREAM_CPU } from "./stream/processor.ts";
import { TAKEOVER } from "./takeover.ts";
import { UPLOADS } from "./uploads.ts";
import { WEBHOOKS } from "./webhooks.ts";

/** Every benchmark by its name, in the order of a full run. */
export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  read: READ,
  create: CREATE,
  "audio-orders": AUDIO_ORDERS,
  quota: QUOTA,
  list: LIST,
  startup: STARTUP,
  idle: IDLE,
  sim: SIMULATED_CALLS,
  memory: MEMORY,
  dispatch: DISPATCH,
  batches: BATCHES,
  fence: FENCE,
  "spoken-once": SPOKEN_ONCE,
  fairness: FAIRNESS,
  uploads: UPLOADS,
  ...SIP_CALLS_AT_ONCE,
  "sip-threads": MEDIA_THREADS,
  "sip-setup": SIP_SET_UPS,
  "sip-memory": SIP_MEMORY,
  "sip-impairments": IMPAIRED_CALLS,
  "whatsapp-setup": WHATSAPP_SET_UPS,
  "stream-latency": STREAM_LATENCY,
  "stream-many": STREAM_MANY,
  "stream-cpu": STREAM_CPU,
  "agent-latency": AGENT_LATENCY,
  "agent-calls": AGENT_CALLS,
  neural: NEURAL,
  "answering-machines": ANSWERING_MACHINES,
  takeover: TAKEOVER,
  webhooks: WEBHOOKS,
};
