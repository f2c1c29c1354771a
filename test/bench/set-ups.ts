import { FakeWhatsApp } from "../../src/testing/index.ts";
import { benchmark, ms, percentile, progress, quantile, type Row, row } from "./harness/benchmark.ts";
import { insideEach, type Measure } from "./harness/programs.ts";
import { onSchedule, spokenCall, trunkWorld, type World, waitUntilAllEnded, whatsappWorld } from "./harness/world.ts";
import { startCallees } from "./sip/callees.ts";
import { withEcho } from "./sip/echo.ts";

const TEXT = "Good morning. Your parcel arrives tomorrow at nine.";
/** Warm-up in which much of the code is compiled, s. */
const WARM_SECONDS = 3;
const MODULE = import.meta.url;

interface Schedule {
  readonly rate: number;
  readonly seconds: number;
}

/** Call set-ups over a trunk. */
export const SIP_SET_UPS = benchmark({
  options: {
    rate: { meaning: "calls placed per second", value: 220, quick: 50 },
    seconds: { meaning: "length of the window", value: 20, quick: 4 },
  },
  run: (values) => withEcho((echo) => insideEach(["node26", "bun"], MODULE, { ...values, echo })),
});

/** Call set-ups over linked WhatsApp numbers. */
export const WHATSAPP_SET_UPS = benchmark({
  options: {
    rate: { meaning: "calls placed per second", value: 20 },
    seconds: { meaning: "length of the window", value: 60, quick: 10 },
  },
  run: (values) => insideEach(["node26", "bun"], MODULE, values),
});

/** Calls on a fixed schedule; each callee answers, and soon hangs up. */
export const measure: Measure<Schedule & { echo?: number }> = ({ echo, ...schedule }) =>
  echo === undefined ? overWhatsApp(schedule) : overTrunk(schedule, echo);

async function overTrunk(schedule: Schedule, echo: number): Promise<Row[]> {
  const callees = await startCallees({ echo, hangUpMs: 200 });
  const world = await trunkWorld(callees.uri, "auto");
  try {
    const placement = await placeAll(world, schedule, 2, 20, callees.invites);
    const rate = placement.completed / placement.seconds;
    const measured = `${rate.toFixed(0)}/s (${placement.completed} of ${placement.count})`;
    return [
      row("calls answered and torn down", measured, "≥ 200/s", placement.completed === placement.count && rate >= 200),
      ...waitRows("from the request to the INVITE", placement, 10),
    ];
  } finally {
    await world.stop();
    await callees.stop();
  }
}

async function overWhatsApp(schedule: Schedule): Promise<Row[]> {
  const network = new FakeWhatsApp(undefined, { latencyMs: 0 });
  network.otherNumbers = { devices: [{ does: "answer", afterMs: 200 }], hangsUpAfterMs: 400 };
  network.number(numberOf(0), { devices: [{ does: "answer", afterMs: 200 }] }); // hears the whole text
  const offers: Record<string, number> = {};
  network.onCall = ({ phone }) => {
    offers[`+${phone}`] = performance.timeOrigin + performance.now();
  };
  const world = await whatsappWorld(network, { queue: { kind: "single", paceMs: 0, warmUp: false } });
  try {
    const placement = await placeAll(world, schedule, 3, 1, async () => offers);
    const [, ...calls] = network.calls;
    const heardCount = calls.filter((call) => call.heard.some((sample) => Math.abs(sample) > 1_000)).length;
    const { completed: completedCount, count } = placement;
    const counts = `${completedCount} of ${count}, ${heardCount} heard`;
    return [
      ...waitRows(`from the request to the offer at ${schedule.rate} calls/s`, placement, 20),
      row(
        "calls that were answered, heard and hung up",
        counts,
        "all",
        completedCount === count && heardCount === count,
      ),
    ];
  } finally {
    await world.stop();
  }
}

interface PlacedCalls {
  readonly count: number;
  /** Number of calls that the callee hung up. */
  readonly completed: number;
  /** Time from the first request to the last end. */
  readonly seconds: number;
  /** Times from each request to its arrival at the network, ms: in the first seconds, and in the window. */
  readonly first: readonly number[];
  readonly window: readonly number[];
}

/**
 * @param turnSeconds time between two calls of one instance, which carries one at a time
 * @param maxWarm calls before the schedule, at most one of each instance
 * @param arrivals arrival times of each number's call at the network, ms since 1970
 */
async function placeAll(
  world: World,
  { rate, seconds }: Schedule,
  turnSeconds: number,
  maxWarm: number,
  arrivals: () => Promise<Readonly<Record<string, number>>>,
): Promise<PlacedCalls> {
  progress("bringing instances online");
  const instances = await world.link(rate * turnSeconds);
  const warmCalls = Math.min(maxWarm, instances.length);
  const callTo = (n: number) => spokenCall(instances[n % instances.length]!, TEXT, numberOf(n));
  await waitUntilAllEnded(world, await world.place(Array.from({ length: warmCalls }, (_, n) => callTo(n))));

  progress(`placing ${rate} calls per second for ${WARM_SECONDS} s and ${seconds} s`);
  const orders: { readonly to: string; readonly at: number }[] = [];
  const startedAt = performance.now();
  const calls = await onSchedule(rate, rate * (WARM_SECONDS + seconds), async (n) => {
    orders.push({ to: numberOf(warmCalls + n), at: performance.timeOrigin + performance.now() });
    const [call] = await world.place([callTo(warmCalls + n)]);
    return call!;
  });
  const outcomes = (await waitUntilAllEnded(world, calls)).map(({ outcome }) => outcome?.reason);
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const arrivedAt = await arrivals();
  const waitsMs = orders.map(({ to, at }) => (arrivedAt[to] ?? Number.POSITIVE_INFINITY) - at);
  return {
    count: calls.length,
    completed: outcomes.filter((reason) => reason === "callee_hung_up").length,
    seconds: elapsedSeconds,
    first: waitsMs.slice(0, rate * WARM_SECONDS),
    window: waitsMs.slice(rate * WARM_SECONDS),
  };
}

const waitRows = (figure: string, { first, window }: PlacedCalls, limit: number): Row[] => [
  percentile(figure, window, 0.99, limit),
  row(`the same in the first ${WARM_SECONDS} s`, ms(quantile(first, 0.99))),
];

function numberOf(n: number): string {
  return `+1202${String(5_550_000 + n)}`;
}
