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

/** A store in which a field that is missing from an update keeps its stored value. */
export function privacyTokenStore(records: RecordSet<object>): PrivacyTokenStore {
  const runInTurn = inTurn();
  const upsertBatch = (updates: readonly ClientRecord[]): Promise<void> =>
    runInTurn(async () => {
      const names = updates.map(({ jid }) => encodeURIComponent(jid));
      const storedRecords = await records.getAll(names);
      const changes = new Map<string, object>();
      for (const [index, update] of updates.entries()) {
        const name = names[index] as string;
        changes.set(name, { ...(changes.get(name) ?? storedRecords[index]), ...withoutMissing(update) });
      }
      await records.set(changes);
    });
  return {
    upsert: (record) => upsertBatch([record]),
    upsertBatch,
    getByJid: async (jid) => (await records.get(encodeURIComponent(jid))) ?? null,
    deleteByJid: (jid) =>
      runInTurn(async () => {
        const name = encodeURIComponent(jid);
        if ((await records.get(name)) === undefined) return 0;
        await records.set(new Map([[name, undefined]]));
        return 1;
      }),
    clear: () => runInTurn(() => records.clear()),
  };
}

function withoutMissing(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null));
}

/**
 * True if the client has a privacy token of this callee, so that its offer does not go to a stranger. A token may
 * arrive under the contact's number, but the client looks only under the address that it calls: such a token is copied
 * to that address, unless a newer token is stored there.
 */
export async function isContact(tokens: PrivacyTokenStore, { phoneJid, address }: ResolvedNumber): Promise<boolean> {
  const addressToken = await tokens.getByJid(address);
  const numberToken = address === phoneJid ? null : await tokens.getByJid(phoneJid);
  if (!hasToken(numberToken)) return hasToken(addressToken);
  if (!hasToken(addressToken) || isNewer(numberToken, addressToken))
    await tokens.upsert({ ...numberToken, jid: address });
  return true;
}

function hasToken(record: ClientRecord | null): boolean {
  return isBytes(record?.tcToken);
}

/** False if an age is unknown: the token of the called address then stays. */
function isNewer({ tcTokenTimestamp: a }: ClientRecord, { tcTokenTimestamp: b }: ClientRecord): boolean {
  return typeof a === "number" && typeof b === "number" && a > b;
}
