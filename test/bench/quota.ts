import { sqliteStorage } from "../../adapters/storage/sqlite/sqlite-storage.ts";
import { SINGLE_POLICY } from "../../src/domain/instances/queue-capacity.ts";
import { storedCall } from "../adapters/storage/records.ts";
import { benchmark, inRounds, median, progress, type Row, row } from "./harness/benchmark.ts";
import { insertInstances, newId, type StoredData, withStoredData } from "./harness/stored-data.ts";

/** Daily limits, with the maximum ratio for each. */
const LIMITS = [
  [200, 1.2],
  [10_000, 2],
] as const;

/** Cost of the daily limit of a token for each creation. */
export const QUOTA = benchmark({
  options: {
    calls: { meaning: "calls per round and kind", value: 300, quick: 30 },
    rounds: { meaning: "rounds", value: 7, quick: 2 },
  },
  async run({ calls, rounds }) {
    const rows: Row[] = [];
    for (const [limit, maxRatio] of LIMITS)
      rows.push(await withStoredData((data) => measureLimit(data, limit, maxRatio, calls, rounds)));
    return rows;
  },
});

async function measureLimit(
  data: StoredData,
  limit: number,
  maxRatio: number,
  calls: number,
  rounds: number,
): Promise<Row> {
  const name = `a limit of ${limit.toLocaleString("en-US")} calls`;
  progress(name);
  const { userId } = data;
  const tokenId = newId("tok");
  let instanceId = "";
  data.fill((database) => {
    [instanceId = ""] = insertInstances(database, userId, 1);
    const insert = database.prepare(
      "insert into calls (id, instance_id, user_id, token_id, status, type, target_phone, message, created_at, ended_at, slot," +
        " version) values (?, ?, ?, ?, 'FAILED', 'DYNAMIC_STREAM', '+12025550100', '{}', ?, ?, 0, 3)",
    );
    for (let n = 1; n < limit; n++) insert.run(newId("call"), "inst_other", userId, tokenId, Date.now(), Date.now());
  });
  const storage = sqliteStorage({ path: data.file });
  await storage.open({ exclusive: true });
  const create = async (maxCalls: number | undefined): Promise<number> => {
    const call = storedCall(newId("call"), instanceId, { userId, tokenId, createdAt: Date.now() });
    const quota = maxCalls === undefined ? undefined : { maxCalls, since: 0 };
    const startedAt = performance.now();
    const { kind } = await storage.calls.insert(call, undefined, SINGLE_POLICY, [], undefined, quota);
    const elapsedMs = performance.now() - startedAt;
    if (kind !== "created") throw new Error(`a call was not created: ${kind}`);
    await storage.calls.update(call.id, 1, { status: "FAILED", endedAt: Date.now() }, []);
    await storage.calls.remove([call.id]);
    return elapsedMs;
  };
  const sides = { limited: () => create(limit), plain: () => create(undefined) };
  const times = await inRounds(rounds * calls, sides, { warmUp: calls });
  await storage.close();
  const [limitedMs, plainMs] = [median(times.limited), median(times.plain)];
  const ratio = limitedMs / plainMs;
  const measured = `${ratio.toFixed(2)} × (${limitedMs.toFixed(2)} ms against ${plainMs.toFixed(2)} ms)`;
  return row(`a creation with ${name}`, measured, `≤ ${maxRatio} ×`, ratio <= maxRatio);
}
