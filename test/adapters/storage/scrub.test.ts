import { existsSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import { storedCall, storedInstance } from "./records.ts";
import { scratchPath } from "./scratch.ts";

const CALLS = 2_000;
const INSTANCES = 7;

test("scrubbing removes deleted calls from split pages", { timeout: 60_000 }, async () => {
  const path = scratchPath();
  const storage = sqliteStorage({ path, synchronous: "NORMAL" });
  await storage.open({ exclusive: false });
  for (let n = 0; n < INSTANCES; n++) await storage.instances.insert(storedInstance(`inst_${n}`), []);
  const random = seededRandom();
  const activeIds: string[] = [];
  const endedIds: string[] = [];
  for (let n = 0; n < CALLS; n++) {
    const call = storedCall(`call_${numberOf(n)}`, `inst_${n % INSTANCES}`, {
      targetPhone: `+${numberOf(n)}`,
      message: { type: "FIXED_TTS", text: "x".repeat(random() * random() * 4_000), voiceId: "en-US-1" },
      createdAt: n,
    });
    await storage.calls.insert(call, undefined, { kind: "fifo", depth: CALLS }, []);
    activeIds.push(call.id);
    if (random() < 0.8) {
      const [id = ""] = activeIds.splice(random() * activeIds.length, 1);
      const outcome = { reason: "interrupted", detail: "z".repeat(random() * 300) } as never;
      await storage.calls.update(id, 1, { status: "FAILED", outcome, endedAt: n }, []);
      endedIds.push(id);
    }
    if (random() < 0.5) await storage.calls.remove(endedIds.splice(random() * endedIds.length, 1));
  }
  await storage.retention.scrub({ thorough: true });

  const storedNumbers = new Set([...activeIds, ...endedIds].map((id) => id.slice(5)));
  const files = [path, `${path}-wal`].filter(existsSync).map((file) => readFileSync(file, "latin1"));
  const numbers = new Set(files.join().match(/4930\d{8}/g));
  expect([...numbers].filter((number) => !storedNumbers.has(number))).toEqual([]);
  expect(numbers.size).toBe(storedNumbers.size);
  await storage.close();
});

test("a deleted call is overwritten in a database too large to compact", async () => {
  const path = scratchPath();
  const storage = sqliteStorage({ path, synchronous: "NORMAL" });
  await storage.open({ exclusive: false });
  await storage.instances.insert(storedInstance("inst_0"), []);
  const call = (n: number) => storedCall(`call_${numberOf(n)}`, "inst_0", { targetPhone: `+${numberOf(n)}` });
  const policy = { kind: "fifo", depth: 10 } as const;
  await storage.calls.insert(call(0), new Uint8Array(9 * 1024 * 1024).fill(1), policy, []);
  await storage.calls.insert(call(1), undefined, policy, []);
  await storage.calls.update(call(1).id, 1, { status: "FAILED", endedAt: 2 }, []);
  await storage.calls.remove([call(1).id]);
  await storage.retention.scrub({ thorough: false });
  expect(readFileSync(path, "latin1")).not.toContain(numberOf(1));
  expect(readFileSync(path, "latin1")).toContain(numberOf(0));
  expect(statSync(`${path}-wal`).size).toBe(0);
  await storage.close();
});

function numberOf(n: number): string {
  return `4930${String(n).padStart(8, "0")}`;
}

/** Numbers from 0 to 1, the same every time. */
function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}
