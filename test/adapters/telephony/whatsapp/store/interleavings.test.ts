import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { isNestedObject } from "../../../../../adapters/telephony/whatsapp/store/client-types.ts";
import { preKeyStore } from "../../../../../adapters/telephony/whatsapp/store/pre-key-store.ts";
import { RecordSet } from "../../../../../adapters/telephony/whatsapp/store/record-set.ts";
import { RecordWriter } from "../../../../../adapters/telephony/whatsapp/store/record-writer.ts";
import type { LineRecords } from "../../../../../src/ports/telephony/line-records.ts";
import { fuzz } from "../../../../support/fuzz.ts";
import { MapRecords } from "../../../../support/whatsapp/map-records.ts";

/** Records whose methods take some turns of the event loop, and fail by script, before or after their effect. */
class UnreliableRecords implements LineRecords {
  readonly storedRecords = new MapRecords();
  readonly #turns: readonly number[];
  readonly #failures: readonly ("before" | "after" | "no")[];
  #callCount = 0;
  isReliable = false;

  constructor(turns: readonly number[], failures: readonly ("before" | "after" | "no")[]) {
    this.#turns = turns;
    this.#failures = failures;
  }

  get(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#serve(() => this.storedRecords.get(keys));
  }

  keys(prefix: string): Promise<string[]> {
    return this.#serve(() => this.storedRecords.keys(prefix));
  }

  set(changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<void> {
    return this.#serve(() => this.storedRecords.set(changes));
  }

  clear(): Promise<void> {
    return this.#serve(() => this.storedRecords.clear());
  }

  async #serve<T>(run: () => Promise<T>): Promise<T> {
    const call = this.#callCount++;
    const failure = this.isReliable ? "no" : (this.#failures[call % this.#failures.length] ?? "no");
    for (let turn = this.#turns[call % this.#turns.length] ?? 0; turn > 0; turn--) await undefined;
    if (failure === "before") throw new Error("the storage is down");
    const result = await run();
    for (let turn = this.#turns[(call + 1) % this.#turns.length] ?? 0; turn > 0; turn--) await undefined;
    if (failure === "after") throw new Error("the connection to the storage broke off");
    return result;
  }
}

const script = fc.tuple(
  fc.array(fc.nat(6), { minLength: 1, maxLength: 8 }),
  fc.array(fc.constantFrom("no" as const, "no" as const, "before" as const, "after" as const), {
    minLength: 1,
    maxLength: 8,
  }),
);

const name = fc.constantFrom("a", "b", "c", "d", "e", "f");
const operation = fc.oneof(
  fc.record({ do: fc.constant("set" as const), names: fc.array(name, { minLength: 1, maxLength: 3 }) }),
  fc.record({ do: fc.constant("delete" as const), names: fc.array(name, { minLength: 1, maxLength: 2 }) }),
  fc.record({ do: fc.constant("get" as const), names: fc.array(name, { minLength: 1, maxLength: 4 }) }),
);
/** Operations of one group run at the same time. */
const groups = fc.array(fc.array(operation, { minLength: 1, maxLength: 4 }), { maxLength: 12 });

function recordSetOver(records: LineRecords, maxRecords: number, maxCached: number): RecordSet<object> {
  const writer = new RecordWriter(records);
  return new RecordSet<object>({
    records,
    writer,
    prefix: "x/",
    isRecord: isNestedObject,
    maxRecords,
    maxCached,
  });
}

describe("over an unreliable storage, in any order", () => {
  fuzz(
    "a set returns what is stored, and never more than its limit",
    fc.asyncProperty(
      script,
      groups,
      fc.constantFrom(3, 100),
      fc.nat(4),
      async (behaviour, operations, maxRecords, maxCached) => {
        const unreliableRecords = new UnreliableRecords(...behaviour);
        const set = recordSetOver(unreliableRecords, maxRecords, maxCached);
        let value = 0;
        for (const group of operations) {
          await Promise.allSettled(
            group.map(({ do: kind, names }) => {
              value++;
              if (kind === "get") return set.getAll(names);
              return set.set(new Map(names.map((recordName) => [recordName, kind === "set" ? { value } : undefined])));
            }),
          );
        }
        unreliableRecords.isReliable = true;
        const allNames = ["a", "b", "c", "d", "e", "f"];
        const reopenedSet = recordSetOver(unreliableRecords.storedRecords, maxRecords, 0);
        expect(await set.getAll(allNames)).toEqual(await reopenedSet.getAll(allNames));
        await set.set(new Map([["a", { value: "last" }]]));
        expect(unreliableRecords.storedRecords.values.size).toBeLessThanOrEqual(Math.max(maxRecords, 1));
      },
    ),
  );

  fuzz(
    "a pre-key is consumed once, and no id is used twice",
    fc.asyncProperty(
      script,
      fc.array(fc.array(fc.oneof(fc.constant("generate"), fc.nat(8)), { minLength: 1, maxLength: 4 }), {
        maxLength: 10,
      }),
      async (behaviour, operations) => {
        const unreliableRecords = new UnreliableRecords(...behaviour);
        const store = preKeyStore(recordSetOver(unreliableRecords, Infinity, 100), 3000);
        const generatedIds: number[] = [];
        const consumedIds: number[] = [];
        const generate = (keyId: number) => {
          generatedIds.push(keyId);
          return { keyId };
        };
        for (const group of operations)
          await Promise.allSettled(
            group.map(async (action) => {
              if (action === "generate") {
                const keys = await store.getOrGenPreKeys(3, generate);
                await store.markKeyAsUploaded(keys[2].keyId);
              } else {
                const key = await store.consumePreKeyById(action as number);
                if (key !== null) consumedIds.push(key.keyId);
              }
            }),
          );
        expect(new Set(consumedIds).size).toBe(consumedIds.length);
        unreliableRecords.isReliable = true;
        for (const keyId of consumedIds) expect(await store.getPreKeyById(keyId)).toBeNull();
        const reopenedStore = preKeyStore(recordSetOver(unreliableRecords.storedRecords, Infinity, 0), 3000);
        const [key] = await reopenedStore.getOrGenPreKeys(1, generate);
        expect(consumedIds).not.toContain(key.keyId);
      },
    ),
  );
});
