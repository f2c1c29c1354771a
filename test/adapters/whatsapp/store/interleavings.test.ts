import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { isNestedObject } from "../../../../adapters/telephony/whatsapp/store/client-types.ts";
import { preKeyStore } from "../../../../adapters/telephony/whatsapp/store/pre-key-store.ts";
import { RecordSet } from "../../../../adapters/telephony/whatsapp/store/record-set.ts";
import { RecordWriter } from "../../../../adapters/telephony/whatsapp/store/record-writer.ts";
import type { LineRecords } from "../../../../src/ports/telephony/line-records.ts";
import { fuzz } from "../../../support/fuzz.ts";
import { MapRecords } from "../../../support/whatsapp/map-records.ts";

/** Records whose methods take some turns, and fail when the script has a true for them; a failed write may have happened. */
class UnreliableRecords implements LineRecords {
  readonly stored = new MapRecords();
  readonly #turns: readonly number[];
  readonly #failures: readonly ("before" | "after" | "no")[];
  #calls = 0;
  reliable = false;

  constructor(turns: readonly number[], failures: readonly ("before" | "after" | "no")[]) {
    this.#turns = turns;
    this.#failures = failures;
  }

  get(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#served(() => this.stored.get(keys));
  }

  keys(prefix: string): Promise<string[]> {
    return this.#served(() => this.stored.keys(prefix));
  }

  set(changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<void> {
    return this.#served(() => this.stored.set(changes));
  }

  clear(): Promise<void> {
    return this.#served(() => this.stored.clear());
  }

  async #served<T>(serve: () => Promise<T>): Promise<T> {
    const call = this.#calls++;
    const failure = this.reliable ? "no" : (this.#failures[call % this.#failures.length] ?? "no");
    for (let turn = this.#turns[call % this.#turns.length] ?? 0; turn > 0; turn--) await undefined;
    if (failure === "before") throw new Error("the storage is down");
    const result = await serve();
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
const act = fc.oneof(
  fc.record({ do: fc.constant("set" as const), names: fc.array(name, { minLength: 1, maxLength: 3 }) }),
  fc.record({ do: fc.constant("delete" as const), names: fc.array(name, { minLength: 1, maxLength: 2 }) }),
  fc.record({ do: fc.constant("get" as const), names: fc.array(name, { minLength: 1, maxLength: 4 }) }),
);
/** Acts of one group run at the same time. */
const groups = fc.array(fc.array(act, { minLength: 1, maxLength: 4 }), { maxLength: 12 });

function setOver(unreliable: LineRecords, most: number, cached: number): RecordSet<object> {
  const writer = new RecordWriter(unreliable);
  return new RecordSet<object>({ records: unreliable, writer, prefix: "x/", is: isNestedObject, most, cached });
}

describe("over an unreliable storage, in any order", () => {
  fuzz(
    "a set returns what is stored, and never more than its limit",
    fc.asyncProperty(script, groups, fc.constantFrom(3, 100), fc.nat(4), async (served, acts, most, cached) => {
      const unreliable = new UnreliableRecords(...served);
      const set = setOver(unreliable, most, cached);
      let value = 0;
      for (const group of acts) {
        await Promise.allSettled(
          group.map(({ do: kind, names }) => {
            value++;
            if (kind === "get") return set.getAll(names);
            return set.set(new Map(names.map((one) => [one, kind === "set" ? { value } : undefined])));
          }),
        );
      }
      unreliable.reliable = true;
      const all = ["a", "b", "c", "d", "e", "f"];
      const fresh = setOver(unreliable.stored, most, 0);
      expect(await set.getAll(all)).toEqual(await fresh.getAll(all));
      await set.set(new Map([["a", { value: "last" }]]));
      expect(unreliable.stored.values.size).toBeLessThanOrEqual(Math.max(most, 1));
    }),
  );

  fuzz(
    "a pre-key is consumed once, and no id is given out twice",
    fc.asyncProperty(
      script,
      fc.array(fc.array(fc.oneof(fc.constant("generate"), fc.nat(8)), { minLength: 1, maxLength: 4 }), {
        maxLength: 10,
      }),
      async (served, acts) => {
        const unreliable = new UnreliableRecords(...served);
        const store = preKeyStore(setOver(unreliable, Infinity, 100), 3000);
        const generated: number[] = [];
        const consumed: number[] = [];
        const generate = (keyId: number) => {
          generated.push(keyId);
          return { keyId };
        };
        for (const group of acts)
          await Promise.allSettled(
            group.map(async (one) => {
              if (one === "generate") {
                const keys = await store.getOrGenPreKeys(3, generate);
                await store.markKeyAsUploaded(keys[2].keyId);
              } else {
                const key = await store.consumePreKeyById(one as number);
                if (key !== null) consumed.push(key.keyId);
              }
            }),
          );
        expect(new Set(consumed).size).toBe(consumed.length);
        unreliable.reliable = true;
        for (const keyId of consumed) expect(await store.getPreKeyById(keyId)).toBeNull();
        const next = preKeyStore(setOver(unreliable.stored, Infinity, 0), 3000);
        const [key] = await next.getOrGenPreKeys(1, generate);
        expect(consumed).not.toContain(key.keyId);
      },
    ),
  );
});
