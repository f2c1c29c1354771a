import { sqliteStorage } from "../../adapters/storage/sqlite/sqlite-storage.ts";
import { idSource } from "../../src/base/ids.ts";
import { SINGLE } from "../../src/domain/instances/queue-policy.ts";
import { storedCall } from "../adapters/storage/records.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { type BenchData, benchData } from "./database.ts";
import { median } from "./median.ts";
import { insertInstances } from "./rows.ts";

/** Cost of a token's daily limit per creation. */
export const QUOTA: Benchmark = {
  title: "The daily limit of a token, against none",
  method: `\`calls.insert\` of the storage on SQLite with \`synchronous=FULL\`, one call after the other. The token has created all
but one of the calls that its limit allows, so each look-up reads as many entries of the index as a token of that limit can ever have; the call
before is deleted for good, so that there is always one left. The baseline is the same call without a limit, in turns with it.`,
  options: {
    calls: { meaning: "calls per round and kind", value: 300, quick: 30 },
    rounds: { meaning: "rounds", value: 7, quick: 2 },
  },
  run: ({ calls = 0, rounds = 0 }) => benchQuota(calls, rounds),
};

/** Limits that are looked at, and how much longer a creation may take. */
const LIMITS = [
  [200, 1.2],
  [10_000, 2],
] as const;

async function benchQuota(calls: number, rounds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [limit, bound] of LIMITS) {
    const data = await benchData();
    try {
      progress(`a limit of ${limit.toLocaleString("en-US")} calls`);
      rows.push(await benchLimit(data, limit, bound, calls, rounds));
    } finally {
      await data.remove();
    }
  }
  return rows;
}

async function benchLimit(data: BenchData, limit: number, bound: number, calls: number, rounds: number): Promise<Row> {
  const ids = idSource(Date.now, (bytes) => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>));
  const tokenId = ids("tok");
  const instanceId = ids("inst");
  let userId = "";
  data.fill((database, user) => {
    userId = user;
    insertInstances(database, user, [instanceId]);
    const insert = database.prepare(
      "insert into calls (id, instance_id, user_id, token_id, status, type, target_phone, message, created_at, ended_at, slot," +
        " version) values (?, ?, ?, ?, 'FAILED', 'DYNAMIC_STREAM', '+12025550100', '{}', ?, ?, 0, 3)",
    );
    for (let n = 1; n < limit; n++) insert.run(ids("call"), "inst_other", user, tokenId, Date.now(), Date.now());
  });
  const storage = sqliteStorage({ path: data.file });
  await storage.open({ exclusive: true });
  const once = async (maxCalls: number | undefined): Promise<number> => {
    const call = storedCall(ids("call"), instanceId, { userId, tokenId, createdAt: Date.now() });
    const quota = maxCalls === undefined ? undefined : { maxCalls, since: 0 };
    const from = performance.now();
    const { kind } = await storage.calls.insert(call, undefined, SINGLE, [], undefined, quota);
    const ms = performance.now() - from;
    if (kind !== "created") throw new Error(`a call was not created: ${kind}`);
    await storage.calls.update(call.id, 1, { status: "FAILED", endedAt: Date.now() }, []);
    await storage.calls.remove([call.id]);
    return ms;
  };
  const limited: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round <= rounds; round++)
    for (let n = 0; n < calls; n++) {
      const [one, other] = [await once(limit), await once(undefined)];
      if (round === 0) continue;
      limited.push(one);
      plain.push(other);
    }
  await storage.close();
  const ratio = median(limited) / median(plain);
  return {
    what: `a creation with a limit of ${limit.toLocaleString("en-US")} calls`,
    measured: `${ratio.toFixed(2)} × (${median(limited).toFixed(2)} ms against ${median(plain).toFixed(2)} ms)`,
    wanted: `≤ ${bound} ×`,
    reached: ratio <= bound,
  };
}
