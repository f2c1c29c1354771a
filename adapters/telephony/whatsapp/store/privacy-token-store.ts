import type { ClientRecord } from "./client-types.ts";
import { inTurn } from "./in-turn.ts";
import type { RecordSet } from "./record-set.ts";

/** The tokens by which contacts recognise this number. */
export interface PrivacyTokenStore {
  upsert(record: ClientRecord): Promise<void>;
  upsertBatch(records: readonly ClientRecord[]): Promise<void>;
  getByJid(jid: string): Promise<ClientRecord | null>;
  /** Returns 1 if there was one, else 0. */
  deleteByJid(jid: string): Promise<number>;
  clear(): Promise<void>;
}

/** A field that a record leaves out keeps its stored value. */
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
