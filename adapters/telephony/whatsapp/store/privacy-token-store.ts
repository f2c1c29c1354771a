import type { ResolvedNumber } from "../calls/number-resolver.ts";
import { type ClientRecord, isBytes } from "./client-types.ts";
import { inTurn } from "./in-turn.ts";
import type { RecordSet } from "./record-set.ts";

/** The tokens by which contacts recognise this number. */
export interface PrivacyTokenStore {
  upsert(record: ClientRecord): Promise<void>;
  upsertBatch(records: readonly ClientRecord[]): Promise<void>;
  getByJid(jid: string): Promise<ClientRecord | null>;
  /** Returns 1 if there was a token, otherwise 0. */
  deleteByJid(jid: string): Promise<number>;
  clear(): Promise<void>;
}

/** A field that is missing in a record keeps its stored value. */
export function privacyTokenStore(records: RecordSet<object>): PrivacyTokenStore {
  const exclusive = inTurn();
  const upsertBatch = (updates: readonly ClientRecord[]): Promise<void> =>
    exclusive(async () => {
      const names = updates.map(({ jid }) => encodeURIComponent(jid));
      const stored = await records.getAll(names);
      const changes = new Map<string, object>();
      for (const [at, update] of updates.entries()) {
        const name = names[at] as string;
        changes.set(name, { ...(changes.get(name) ?? stored[at]), ...withoutMissing(update) });
      }
      await records.set(changes);
    });
  return {
    upsert: (record) => upsertBatch([record]),
    upsertBatch,
    getByJid: async (jid) => (await records.get(encodeURIComponent(jid))) ?? null,
    deleteByJid: (jid) =>
      exclusive(async () => {
        const name = encodeURIComponent(jid);
        if ((await records.get(name)) === undefined) return 0;
        await records.set(new Map([[name, undefined]]));
        return 1;
      }),
    clear: () => exclusive(() => records.clear()),
  };
}

function withoutMissing(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null));
}

/**
 * True if the client has a privacy token of this callee, so that its offer does not go to a stranger. A token may
 * arrive under the number of the contact, but the client looks only under the address that it calls: such a token is
 * copied to that address, unless a newer one is there.
 */
export async function isContact(tokens: PrivacyTokenStore, { phoneJid, address }: ResolvedNumber): Promise<boolean> {
  const called = await tokens.getByJid(address);
  const byNumber = address === phoneJid ? null : await tokens.getByJid(phoneJid);
  if (!hasToken(byNumber)) return hasToken(called);
  if (!hasToken(called) || isNewer(byNumber, called)) await tokens.upsert({ ...byNumber, jid: address });
  return true;
}

function hasToken(record: ClientRecord | null): boolean {
  return isBytes(record?.tcToken);
}

/** False if one of the ages is unknown: a token of the called address stays. */
function isNewer({ tcTokenTimestamp: one }: ClientRecord, { tcTokenTimestamp: other }: ClientRecord): boolean {
  return typeof one === "number" && typeof other === "number" && one > other;
}
