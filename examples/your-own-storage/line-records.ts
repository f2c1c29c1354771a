import type { LineRecordStore } from "ringport";
import type { Memory } from "./memory.ts";

/** The encrypted records of lines: by instance, then by key. */
export function lineRecords({ instances, lineRecords: all }: Memory): LineRecordStore {
  const of = (instanceId: string): ReadonlyMap<string, Uint8Array> => all.get(instanceId) ?? new Map();
  return {
    get: async (instanceId, keys) => keys.map((key) => of(instanceId).get(key)),
    keys: async (instanceId, prefix) =>
      [...of(instanceId).keys()].filter((key) => key.startsWith(prefix)).sort(byPoint),
    async set(instanceId, changes, most) {
      if ((instances.get(instanceId)?.status ?? "DELETED") === "DELETED") return true;
      const records = new Map(of(instanceId));
      for (const [key, sealed] of changes)
        if (sealed) records.set(key, sealed.slice());
        else records.delete(key);
      if (records.size > most) return false;
      all.set(instanceId, records);
      return true;
    },
    async forgetNumber(number) {
      let forgotten = 0;
      for (const [instanceId, records] of all) {
        if (instances.get(instanceId)?.phone === number.phone) continue;
        const left = new Map([...records].filter(([key]) => !number.isIn(key)));
        forgotten += records.size - left.size;
        all.set(instanceId, left);
      }
      return forgotten;
    },
    clear: async (instanceId) => void all.delete(instanceId),
  };
}

/** UTF-8 sorts like code points, and JavaScript like UTF-16. */
function byPoint(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
