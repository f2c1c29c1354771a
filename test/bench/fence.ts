import { postgresStorage } from "../../adapters/storage/postgres/postgres-storage.ts";
import type { Event } from "../../src/domain/events.ts";
import type { Instance } from "../../src/domain/instances/instance.ts";
import type { Storage } from "../../src/ports/storage.ts";
import { storedInstance } from "../adapters/storage/records.ts";
import { findPostgres } from "../support/postgres.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { median } from "./median.ts";

const WRITERS = 8;

/** Cost of fencing every write against another owner of the database. */
export const FENCE: Benchmark = {
  title: "Writes under a lease on PostgreSQL",
  method: `${WRITERS} writers, each with an instance and a user of its own, change it with one event per transaction. The figure is the number of
changes per second of a storage that was opened as the server, whose transactions lock the row of its lease, divided by
that of one that was opened beside a server, whose transactions do not: the median of rounds that alternate between the two on
one database. PostgreSQL runs without \`fsync\`, so that the disk hides nothing.`,
  options: {
    rounds: { meaning: "rounds, each of them both storages once", value: 7, quick: 1 },
    seconds: { meaning: "length of one storage's turn", value: 3, quick: 1 },
  },
  run: ({ rounds = 0, seconds = 0 }) => benchFence(rounds, seconds * 1000),
};

async function benchFence(rounds: number, ms: number): Promise<Row[]> {
  const source = await findPostgres();
  if (source.missing !== undefined) throw new Error(source.missing);
  const server = await source.start();
  try {
    const url = await server.createDatabase();
    const [fenced, free] = [postgresStorage({ url }), postgresStorage({ url })];
    await fenced.open({ exclusive: true, leaseMs: 3_600_000 });
    await free.open({ exclusive: false });
    const figures: [number, number][] = [];
    for (let round = 0; round <= rounds; round++) {
      progress(round === 0 ? "warming up" : `round ${round} of ${rounds}`);
      const figure: [number, number] = [
        await changesPerSecond(fenced, `f${round}`, ms),
        await changesPerSecond(free, `o${round}`, ms),
      ];
      if (round > 0) figures.push(figure);
    }
    await Promise.all([fenced.close(), free.close()]);
    return [rowOf(figures)];
  } finally {
    await server.stop();
  }
}

function rowOf(figures: readonly [number, number][]): Row {
  const ratio = median(figures.map(([fenced, free]) => fenced / free));
  const rate = (which: 0 | 1): string => `${Math.round(median(figures.map((one) => one[which])))}/s`;
  return {
    what: "changes under a lease, against those without one",
    measured: `${ratio.toFixed(2)} (${rate(0)} against ${rate(1)})`,
    wanted: "≥ 0.8",
    reached: ratio >= 0.8,
  };
}

async function changesPerSecond(storage: Storage, name: string, ms: number): Promise<number> {
  const until = performance.now() + ms;
  let changes = 0;
  const write = async (writer: number): Promise<void> => {
    const instance = newInstance(`${name}_${writer}`);
    await storage.instances.insert(instance, []);
    for (let version = 1; performance.now() < until; version++) {
      const event = newEvent(instance, version);
      const changed = await storage.instances.update(instance.id, version, { updatedAt: version }, [event]);
      if (!changed) throw new Error(`${instance.id} was changed by another`);
      changes++;
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  return changes / ((performance.now() - from) / 1000);
}

function newInstance(name: string): Instance {
  return { ...storedInstance(`inst_${name}`), userId: `usr_${name}` };
}

function newEvent({ id, userId }: Instance, version: number): Event {
  const name = `${id}_${version}`;
  return {
    id: `evt_${name}`,
    type: "instance.unlinked",
    timestamp: version,
    callId: null,
    instanceId: id,
    userId,
    data: { reason: "unlinked" },
  } as Event;
}
