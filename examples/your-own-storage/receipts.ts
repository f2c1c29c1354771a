import type { ReceiptStore } from "ringport";
import { type Memory, nameOf } from "./memory.ts";

/** Receipts of requests under an idempotency key. */
export function receipts(memory: Memory): ReceiptStore {
  return {
    async find(key, expiredBefore) {
      const known = memory.receipts.get(nameOf(key));
      if (!known || known.begunAt < expiredBefore) return undefined;
      const { begunAt: _, ...receipt } = known;
      return receipt;
    },
    async forget(begunBefore) {
      const old = [...memory.receipts].filter(([, { begunAt }]) => begunAt < begunBefore);
      for (const [name] of old) memory.receipts.delete(name);
      return old.length;
    },
  };
}
