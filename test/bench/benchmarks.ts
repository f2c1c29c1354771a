import { AGENT_BENCHMARKS } from "./agents/benchmarks.ts";
import { ANSWERING_MACHINES } from "./answering-machines.ts";
import type { Benchmark } from "./benchmark.ts";
import { CREATE } from "./create.ts";
import { DISPATCH } from "./dispatch.ts";
import { FAIRNESS } from "./fairness.ts";
import { FENCE } from "./fence.ts";
import { LIST } from "./list.ts";
import { MEMORY } from "./memory.ts";
import { QUOTA } from "./quota.ts";
import { READ } from "./read.ts";
import { SIMULATED_CALLS } from "./sim.ts";
import { SIP_BENCHMARKS } from "./sip/benchmarks.ts";
import { SPOKEN_ONCE } from "./spoken-once.ts";
import { STARTUP } from "./startup.ts";
import { STREAM_BENCHMARKS } from "./stream/benchmarks.ts";
import { TAKEOVER } from "./takeover.ts";
import { UPLOADS } from "./uploads.ts";
import { WEBHOOKS } from "./webhooks.ts";
import { WHATSAPP_BENCHMARKS } from "./whatsapp/benchmarks.ts";

/** Every benchmark by its name, in the order in which all of them run and are written down. */
export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  read: READ,
  create: CREATE,
  quota: QUOTA,
  list: LIST,
  startup: STARTUP,
  sim: SIMULATED_CALLS,
  memory: MEMORY,
  dispatch: DISPATCH,
  fence: FENCE,
  "spoken-once": SPOKEN_ONCE,
  fairness: FAIRNESS,
  uploads: UPLOADS,
  ...SIP_BENCHMARKS,
  ...WHATSAPP_BENCHMARKS,
  ...STREAM_BENCHMARKS,
  ...AGENT_BENCHMARKS,
  "answering-machines": ANSWERING_MACHINES,
  takeover: TAKEOVER,
  webhooks: WEBHOOKS,
};
