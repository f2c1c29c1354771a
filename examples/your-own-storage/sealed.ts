import type { SealedKind, SealedPlace, SealedStore, SealedValue } from "ringport";
import type { Memory } from "./memory.ts";

const WEBHOOK_FIELDS = {
  webhook_key: "sealedKey",
  webhook_old_key: "sealedOldKey",
  webhook_headers: "sealedHeaders",
} as const;

/** All encrypted values, wherever they are stored. */
export function sealed(memory: Memory): SealedStore {
  const { credentials, lineRecords, webhooks } = memory;

  function all(kind: SealedKind): SealedValue[] {
    switch (kind) {
      case "credentials":
        return [...credentials].map(([id, sealed]) => ({ id, key: "", sealed }));
      case "line_record":
        return [...lineRecords].flatMap(([id, records]) => [...records].map(([key, sealed]) => ({ id, key, sealed })));
      case "webhook_key":
        return [...webhooks.values()].map(({ id, sealedKey }) => ({ id, key: "", sealed: sealedKey }));
      case "webhook_old_key":
        return [...webhooks.values()].flatMap(({ id, sealedOldKey }) =>
          sealedOldKey ? [{ id, key: "", sealed: sealedOldKey }] : [],
        );
      case "webhook_headers":
        return [...webhooks.values()].flatMap(({ id, sealedHeaders }) =>
          sealedHeaders ? [{ id, key: "", sealed: sealedHeaders }] : [],
        );
    }
  }

  function write(kind: SealedKind, { id, key }: SealedPlace, bytes: Uint8Array): void {
    const webhook = webhooks.get(id);
    if (kind === "credentials") credentials.set(id, bytes);
    else if (kind === "line_record") lineRecords.set(id, new Map(lineRecords.get(id)).set(key, bytes));
    else if (webhook) webhooks.set(id, { ...webhook, [WEBHOOK_FIELDS[kind]]: bytes });
  }

  return {
    list: async (kind, limit, after) =>
      all(kind)
        .sort(inOrder)
        .filter((value) => !after || inOrder(after, value) < 0)
        .slice(0, limit),
    async replace(kind, value, bytes) {
      const stored = all(kind).find((one) => inOrder(one, value) === 0);
      if (!stored || Buffer.compare(stored.sealed, value.sealed) !== 0) return false;
      write(kind, value, bytes.slice());
      return true;
    },
  };
}

function inOrder(one: SealedPlace, other: SealedPlace): number {
  if (one.id !== other.id) return one.id < other.id ? -1 : 1;
  return Buffer.compare(Buffer.from(one.key), Buffer.from(other.key));
}
