import { DEFAULT_LIMITS, type Limits } from "../../../src/domain/limits.ts";
import { DEFAULT_TIMINGS, type Timings } from "../../../src/domain/timings.ts";
import { wholeNumber } from "./parsers.ts";
import { setting } from "./setting.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `ringTimeoutMs` as `RING_TIMEOUT_MS`. */
export const upperSnake = (name: string): string => name.replace(/[A-Z]/g, "_$&").toUpperCase();

type Help = readonly [min: number, max: number, help: string];

const TIMING_HELP = {
  queueTimeoutMs: [1_000, 7 * DAY_MS, "Maximum wait of a call for its instance."],
  ringTimeoutMs: [1_000, HOUR_MS, "Maximum ringing time."],
  maxDurationMs: [1_000, DAY_MS, "Maximum duration of a call after its message."],
  mediaTimeoutMs: [100, HOUR_MS, "Time within which the first inbound audio must arrive."],
  tailMs: [0, 60_000, "Silence after a message, before the hang-up."],
  streamAttachMs: [100, HOUR_MS, "Maximum wait of a call for a client of its stream."],
  releaseTimeoutMs: [100, 60_000, "Time within which the network must end a call after the hang-up."],
  probeMs: [100, HOUR_MS, "Time between two probes of an idle line."],
  probeInCallMs: [100, HOUR_MS, "Time between two probes of a line with a live call."],
  linkCodeMs: [100, 60_000, "Maximum wait of GET …/configure for a QR code."],
  leaseMs: [500, HOUR_MS, "PostgreSQL: time after the last renewal at which a dead server is replaced."],
  leaseRenewMs: [50, HOUR_MS, "Time between two renewals of that lease; less than half of it."],
} as const satisfies Partial<Record<keyof Timings, Help>>;

const LIMIT_HELP = {
  bodyBytes: [1_024, 2 ** 28, "Whole request body, bytes."],
  allBodiesBytes: [1_024, 2 ** 40, "All bodies above 64 KiB that are read at the same time, bytes."],
  userBodiesBytes: [1_024, 2 ** 40, "The same for one user; a second budget of this size is for smaller bodies."],
  audioBytes: [1, 2 ** 27, "Decoded audio file, bytes."],
  instancesPerUser: [1, 1_000_000, "Instances of one user, without deleted ones."],
  webhooksPerUser: [0, 10_000, "Webhooks of one user."],
  consentsPerUser: [0, 1_000_000, "Consents of one user."],
  audioFilesPerUser: [0, 100_000, "Stored audio files of one user."],
  batchesPerUser: [0, 100_000, "Batches of one user, ended ones included."],
  targetsPerBatch: [1, 1_000_000, "Targets of one batch."],
  storedBytesPerUser: [
    2 ** 20,
    2 ** 50,
    "Stored data of one user, bytes: calls with everything that belongs to them, audio files, and instances.",
  ],
  storedBytesPerDemoInstance: [2 ** 20, 2 ** 50, "Stored data that the demo tokens of one instance may create, bytes."],
} as const satisfies Partial<Record<keyof Limits, Help>>;

/** Time limits. */
export const TIMINGS = (Object.keys(TIMING_HELP) as (keyof typeof TIMING_HELP)[]).map((name) => {
  const [min, max, help] = TIMING_HELP[name];
  return setting(name, `RINGPORT_${upperSnake(name)}`, wholeNumber(min, max), String(DEFAULT_TIMINGS[name]), help);
});

/** Limits of requests. */
export const LIMITS = (Object.keys(LIMIT_HELP) as (keyof typeof LIMIT_HELP)[]).map((name) => {
  const [min, max, help] = LIMIT_HELP[name];
  const env = `RINGPORT_LIMIT_${upperSnake(name)}`;
  return setting(`limits.${name}` as const, env, wholeNumber(min, max), String(DEFAULT_LIMITS[name]), help);
});
