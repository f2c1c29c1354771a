import type { RetentionStore } from "../../src/ports/storage.ts";
import type { Session } from "./session.ts";
import { storedBytes } from "./stored-bytes.ts";

/** The purge clock's state, scrubbing of deleted records, and what is stored. */
export function retentionStore(session: Session): RetentionStore {
  return {
    trustedTime: () =>
      session.read(async (db) => {
        const row = await db.selectFrom("trusted_time").selectAll().executeTakeFirst();
        if (!row) return undefined;
        const { at, claimed_at, waited_ms, step_ms, stepped_ago_ms } = row;
        return {
          at,
          claim: claimed_at === null ? null : { at: claimed_at, waitedMs: waited_ms },
          ...(step_ms !== null && { step: { ms: step_ms, waitedMs: stepped_ago_ms ?? 0 } }),
        };
      }),
    async saveTrustedTime({ at, claim, step }) {
      const row = {
        at,
        claimed_at: claim?.at ?? null,
        waited_ms: claim?.waitedMs ?? 0,
        step_ms: step?.ms ?? null,
        stepped_ago_ms: step?.waitedMs ?? null,
      };
      await session.write((db) =>
        db
          .insertInto("trusted_time")
          .values({ id: 1, ...row })
          .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
          .execute(),
      );
    },
    storedBytes: (owner) => session.read((db) => storedBytes(db, owner)),
    scrub: ({ thorough }) => session.scrub(thorough),
  };
}
