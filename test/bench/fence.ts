import { postgresStorage } from "../../adapters/storage/postgres/postgres-storage.ts";
import type { Event } from "../../src/domain/events.ts";
import type { Storage } from "../../src/ports/storage.ts";
import { storedEvent, storedInstance } from "../adapters/storage/records.ts";
import { benchmark, inRounds, median, ratioOf, row } from "./harness/benchmark.ts";
import { withPostgres } from "./harness/postgres.ts";

const WRITERS = 8;

/** Cost of the rule that a server's writes are refused once another server owns the database. */
export const FENCE = benchmark({
  options: {
    rounds: { meaning: "rounds, each with both storages", value: 7, quick: 1 },
    seconds: { meaning: "length of one storage's turn", value: 3, quick: 1 },
  },
  run: ({ rounds, seconds }) =>
    withPostgres(async (server) => {
      const url = await server.createDatabase();
      const [fencedStorage, unfencedStorage] = [postgresStorage({ url }), postgresStorage({ url })];
      await fencedStorage.open({ exclusive: true, leaseMs: 3_600_000 });
      await unfencedStorage.open({ exclusive: false });
      let turn = 0;
      const measureSide = (storage: Storage) => () => changesPerSecond(storage, `${turn++}`, seconds * 1000);
      const rates = await inRounds(
        rounds,
        { fenced: measureSide(fencedStorage), free: measureSide(unfencedStorage) },
        { label: "changes" },
      );
      await Promise.all([fencedStorage.close(), unfencedStorage.close()]);
      const ratio = ratioOf(rates.fenced, rates.free);
      const [fencedRate, baseline] = [rates.fenced, rates.free].map((rate) => Math.round(median(rate)));
      const measured = `${ratio.toFixed(2)} (${fencedRate}/s against ${baseline}/s)`;
      return [row("changes under a lease, against those without one", measured, "≥ 0.8", ratio >= 0.8)];
    }),
});

async function changesPerSecond(storage: Storage, name: string, ms: number): Promise<number> {
  const startedAt = performance.now();
  let changes = 0;
  const write = async (_: unknown, writer: number): Promise<void> => {
    const instance = { ...storedInstance(`inst_${name}_${writer}`), userId: `usr_${name}_${writer}` };
    const { id, userId } = instance;
    await storage.instances.insert(instance, []);
    for (let version = 1; performance.now() < startedAt + ms; version++) {
      const storedFields = { ...storedEvent(`evt_${id}_${version}`, null), instanceId: id, userId, timestamp: version };
      const event = { ...storedFields, type: "instance.unlinked", data: { reason: "unlinked" } } as Event;
      const isChanged = await storage.instances.update(id, version, { updatedAt: version }, [event]);
      if (!isChanged) throw new Error(`${id} has another version`);
      changes++;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return changes / ((performance.now() - startedAt) / 1000);
}
