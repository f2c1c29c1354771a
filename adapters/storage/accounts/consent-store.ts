import type { Kysely } from "kysely";
import { CodedError } from "../../../src/base/error.ts";
import type { Consent } from "../../../src/domain/dialling-rules/consent.ts";
import type { ConsentStore } from "../../../src/ports/storage.ts";
import { lockPosition } from "../calls/event-store.ts";
import { preparedQuery, type Session, valueLists } from "../connected-database.ts";
import { countRows, readRecords } from "../record-lists.ts";
import type { Database } from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";

const CONSENT = preparedQuery((db, { userId, phone }: { userId: string; phone: string }) =>
  db.selectFrom("consents").selectAll().where("user_id", "=", userId).where("phone", "=", phone),
);

/** Runs before each dial, with both forms of a number, and for the rows of a batch. */
const CONSENTS_OF_NUMBERS = preparedQuery(
  (db, { userId, ...phones }: { readonly userId: string } & Readonly<Record<number, string>>) =>
    db.selectFrom("consents").selectAll().where("user_id", "=", userId).where("phone", "in", Object.values(phones)),
);

/** Rolls back an insertion: the user already has the maximum number of consents. */
class QuotaReached extends CodedError {
  readonly code = "quota_reached";
}

/** Users' records about the numbers they call. */
export function consentStore(session: Session): ConsentStore {
  return {
    async get(userId, phone) {
      const [row] = await session.query(CONSENT, { userId, phone });
      return row && RECORDS.consents.record(row);
    },
    async ofNumbers(userId, phones) {
      const consents: Consent[] = [];
      for (const list of valueLists(phones)) {
        const rows = await session.query(CONSENTS_OF_NUMBERS, { userId, ...list });
        consents.push(...rows.map(RECORDS.consents.record));
      }
      return consents;
    },
    put: (consent, maxConsents) =>
      session
        .transaction(async (tx) => {
          if (await isDeleted(tx, consent.userId, session.traits.rowLocks)) return "user_deleted";
          const result = await replace(tx, consent);
          if (result.created && maxConsents !== undefined && (await countConsents(tx, consent.userId)) > maxConsents)
            throw new QuotaReached();
          return result;
        })
        .catch((error: unknown) => {
          if (error instanceof QuotaReached) return "at_limit";
          throw error;
        }),
    delete: (userId, phone) =>
      session.write(async (db) => {
        const deletedRow = await db
          .deleteFrom("consents")
          .where("user_id", "=", userId)
          .where("phone", "=", phone)
          .returning("phone")
          .executeTakeFirst();
        return deletedRow !== undefined;
      }),
    list: (userId, { status }, { after, limit }) =>
      readRecords(session, RECORDS.consents, (db) =>
        db
          .selectFrom("consents")
          .selectAll()
          .where("user_id", "=", userId)
          .$if(status !== undefined, (query) => query.where("status", "=", status ?? "granted"))
          .$if(after !== undefined, (query) => query.where("phone", ">", after ?? ""))
          .orderBy("phone")
          .$if(limit !== undefined, (query) => query.limit(limit ?? 0)),
      ),
  };
}

/**
 * Locks a user's account, so that it is not deleted before the transaction ends; returns true if it has already been
 * deleted. A host's own users have no row.
 */
export async function isDeleted(tx: Kysely<Database>, userId: string, rowLocks: boolean): Promise<boolean> {
  const user = await tx
    .selectFrom("users")
    .select("name")
    .where("id", "=", userId)
    .$if(rowLocks, (query) => query.forShare())
    .executeTakeFirst();
  return user?.name === userId;
}

async function replace(tx: Kysely<Database>, consent: Consent): Promise<{ created: boolean; consent: Consent }> {
  const row = RECORDS.consents.row(consent);
  const { status, source, updated_at } = row;
  // Repeated if the consent is deleted in between.
  for (;;) {
    const insertedRow = await tx
      .insertInto("consents")
      .values(row)
      .onConflict((conflict) => conflict.columns(["user_id", "phone"]).doNothing())
      .returning("phone")
      .executeTakeFirst();
    if (insertedRow) return { created: true, consent };
    const replacedRow = await tx
      .updateTable("consents")
      .set({ status, source, updated_at })
      .where("user_id", "=", row.user_id)
      .where("phone", "=", row.phone)
      .returningAll()
      .executeTakeFirst();
    if (replacedRow) return { created: false, consent: RECORDS.consents.record(replacedRow) };
  }
}

async function countConsents(tx: Kysely<Database>, userId: string): Promise<number> {
  // This locks the user's log until the commit, so that the next insertion counts this one.
  await lockPosition(tx, userId);
  return countRows(tx, "consents", (rows) => rows.where("user_id", "=", userId));
}
