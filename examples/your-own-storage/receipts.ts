import type { ReceiptStore } from "ringport";
import { type KnownRequest, type Memory, nameOf } from "./memory.ts";

/** Requests under an idempotency key. */
export function receipts(memory: Memory): ReceiptStore {
  const { requests } = memory;
  const forgetThose = (old: (request: KnownRequest) => boolean): number => {
    const keys = [...requests].filter(([, request]) => old(request)).map(([key]) => key);
    for (const key of keys) requests.delete(key);
    return keys.length;
  };
  return {
    async begin(key, fingerprint, now, expiredBefore) {
      for (const [id, { createdAt }] of requests) if (createdAt < expiredBefore) requests.delete(id);
      const known = requests.get(nameOf(key));
      if (!known) requests.set(nameOf(key), { fingerprint, createdAt: now });
      if (!known) return { kind: "begun" };
      const { fingerprint: first, result } = known;
      return result === undefined ? { kind: "running" } : { kind: "done", fingerprint: first, result };
    },
    finish: async (receipt) => memory.finish(receipt),
    async abandon(key) {
      if (requests.get(nameOf(key))?.result === undefined) requests.delete(nameOf(key));
    },
    async abandonUnfinished() {
      for (const [id, { result }] of requests) if (result === undefined) requests.delete(id);
    },
    forget: async (begunBefore) => forgetThose(({ createdAt }) => createdAt < begunBefore),
    forgetPhone: async (phone) =>
      forgetThose(({ result }) => result?.includes(`"targetPhone":${JSON.stringify(phone)}`) === true),
  };
}
