import process from "node:process";
import type { TargetRow } from "../../../src/domain/batches/target-rows.ts";
import type { Telephony } from "../../../src/index.ts";
import { toneWav } from "../../support/server-sound.ts";
import { allOf, median, ms, percent, progress, quantile, type Row, row } from "../harness/benchmark.ts";
import { EventLoop, stallRow } from "../harness/event-loop.ts";
import { withLegs } from "../harness/legs.ts";
import type { Measure } from "../harness/programs.ts";
import { share, timeSpent } from "../harness/resources.ts";
import { ME, onSchedule, type SimulatedWorld, simulatedWorld } from "../harness/world.ts";

/** Minimum time between two dials of one number, ms: longer than a call to a busy callee, shorter than an answered one. */
const PACE_MS = 800;
const TIME_SCALE = 0.5;
const ANSWERS = "+12025550100";
const BUSY = "+12025550101";
/** Number of calls to each kind of callee; the median of their lengths counts as a call's length. */
const LONE_CALLS = 5;
/** Number of instances that place single calls, and number of those calls per second. */
const SINGLE_NUMBERS = 50;
const ORDERS_PER_SECOND = 10;
const WARM_UP_ORDERS = 30;
const MAX_OVERHEAD = 1.1;
const MESSAGE = { type: "FIXED_AUDIO", audio: { audioBase64: toneWav({ ms: 200 }).toString("base64") } } as const;

interface Options {
  readonly targets: number;
  readonly numbers: number;
  readonly orders: number;
}

/** Calls the targets of a batch, and compares single calls placed during it with those before and after it. */
export const measure: Measure<Options> = async ({ targets, numbers, orders }) => {
  const dials = new Dials();
  const world = await simulatedWorld({
    timeScale: TIME_SCALE,
    simulated: { maxRecordingMs: 1 },
    wrapNetwork: (network) => dials.observe(network),
    options: { queue: { kind: "single", paceMs: PACE_MS } },
  });
  const { batches } = world.ringport;
  try {
    progress("bringing instances online");
    const singles = new SingleCalls(world, dials, await world.link(SINGLE_NUMBERS));
    const instanceIds = await world.link(numbers);
    await singles.place(WARM_UP_ORDERS);
    const [answeredMs, busyMs] = [await singles.lengthOf(ANSWERS), await singles.lengthOf(BUSY)];
    progress(`an answered call takes ${ms(answeredMs, 0)}, a busy one ${ms(busyMs, 0)}; single calls before the batch`);
    const before = await singles.place(orders);
    const { id } = await batches.create(ME, { name: "bench", instanceIds, message: MESSAGE });
    await batches.addTargets(ME, id, targetRows(targets));
    progress(`calling ${targets} targets`);
    const dialsBefore = dials.count;
    let timesDuringBatch: readonly number[] = [];
    const loop = new EventLoop();
    loop.start();
    const timeUsed = await timeSpent(process.pid, async () => {
      await batches.start(ME, id);
      timesDuringBatch = await singles.placeUntil(() => hasEnded(world, id));
    });
    loop.stop();
    const { startedAt, endedAt, counts } = await batches.get(ME, id);
    const batchDials = dials.count - dialsBefore - timesDuringBatch.length;
    progress("single calls after the batch");
    const after = await singles.place(orders);
    const { COMPLETED = 0, FAILED = 0 } = counts.byStatus;
    const idealMs = (COMPLETED * Math.max(PACE_MS, answeredMs) + FAILED * Math.max(PACE_MS, busyMs)) / numbers;
    return [
      allOf("targets called, half of them busy", COMPLETED + FAILED, targets),
      allOf("calls placed for them", batchDials, targets),
      runRow((endedAt ?? Number.POSITIVE_INFINITY) - (startedAt ?? 0), idealMs),
      ...orderRows([...before, ...after], timesDuringBatch),
      row("processor during the run", `${percent(share(timeUsed), 0)} of one core`),
      stallRow("longest stall of the event loop during the run", loop),
    ];
  } finally {
    await world.stop();
  }
};

function runRow(elapsedMs: number, idealMs: number): Row {
  const seconds = (duration: number): string => `${(duration / 1000).toFixed(1)} s`;
  const ratio = elapsedMs / idealMs;
  const measured = `${ratio.toFixed(2)} × (${seconds(elapsedMs)} against ${seconds(idealMs)})`;
  return row("the run, against what pace and calls take", measured, `≤ ${MAX_OVERHEAD} ×`, ratio <= MAX_OVERHEAD);
}

function orderRows(timesWithoutBatch: readonly number[], timesDuringBatch: readonly number[]): Row[] {
  const ratio = median(timesDuringBatch) / median(timesWithoutBatch);
  const spread = (times: readonly number[]): string => `${ms(median(times))} (p99 ${ms(quantile(times, 0.99))})`;
  return [
    row("from the request of a single call to its dial, without the batch", spread(timesWithoutBatch)),
    row("the same during the batch", `${spread(timesDuringBatch)}, ${ratio.toFixed(2)} of the above`),
  ];
}

async function hasEnded({ ringport }: SimulatedWorld, id: string): Promise<boolean> {
  const { status, reason } = await ringport.batches.get(ME, id);
  if (status !== "RUNNING" && status !== "COMPLETED") throw new Error(`the batch is ${status}: ${reason}`);
  return status === "COMPLETED";
}

async function* targetRows(count: number): AsyncGenerator<TargetRow> {
  for (let n = 0; n < count; n++) yield { row: n + 1, input: { phoneNumber: `+1202${String(2_000_000 + n)}` } };
}

/** The dials of a network. Half of the numbers are busy; the others answer. */
class Dials {
  count = 0;
  readonly #timeByCall = new Map<string, number>();

  observe(network: Telephony): Telephony {
    return withLegs(
      network,
      () => {},
      (to, callId) => {
        this.count++;
        this.#timeByCall.set(callId, performance.now());
        if (to === ANSWERS || to === BUSY) return to;
        return Number(to.slice(-7)) % 97 < 48 ? BUSY : ANSWERS; // not every second call: those might all come from one instance
      },
    );
  }

  /** Time of a call's dial, by this process's clock, ms. */
  at(callId: string): number {
    return this.#timeByCall.get(callId) ?? Number.POSITIVE_INFINITY;
  }
}

/** Places single calls to a busy callee, from instances outside the batch. */
class SingleCalls {
  readonly #world: SimulatedWorld;
  readonly #dials: Dials;
  readonly #instanceIds: readonly string[];
  #orderCount = 0;

  constructor(world: SimulatedWorld, dials: Dials, instanceIds: readonly string[]) {
    this.#world = world;
    this.#dials = dials;
    this.#instanceIds = instanceIds;
  }

  /** Places calls; resolves with the time of each from its request to its dial, ms. */
  place(count: number): Promise<number[]> {
    return onSchedule(ORDERS_PER_SECOND, count, async () => (await this.#call(BUSY)).waitMs);
  }

  /** Places calls, a second's at a time, until `isDone`; resolves with their times as {@link place} does. */
  async placeUntil(isDone: () => Promise<boolean>): Promise<number[]> {
    const waits: number[] = [];
    while (!(await isDone())) waits.push(...(await this.place(ORDERS_PER_SECOND)));
    return waits;
  }

  /** Time from the dial to the end of a call, ms. */
  async lengthOf(phone: string): Promise<number> {
    const lengths: number[] = [];
    for (let n = 0; n < LONE_CALLS; n++) lengths.push((await this.#call(phone)).lengthMs);
    return median(lengths);
  }

  async #call(phoneNumber: string): Promise<{ waitMs: number; lengthMs: number }> {
    const { calls } = this.#world.ringport;
    const instanceId = this.#instanceIds[this.#orderCount++ % this.#instanceIds.length] ?? "";
    const orderedAt = performance.now();
    const { id, created } = await calls.create(ME, { instanceId, ...MESSAGE, target: { phoneNumber } });
    if (!created) throw new Error(`instance ${instanceId} still had a call`);
    await calls.wait(ME, id);
    const dialledAt = this.#dials.at(id);
    return { waitMs: dialledAt - orderedAt, lengthMs: performance.now() - dialledAt };
  }
}
