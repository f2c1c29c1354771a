import type { Selectable } from "kysely";
import type { Consent } from "../../src/domain/consent.ts";
import type { ConsentStore } from "../../src/ports/storage.ts";
import { prepared } from "./prepared.ts";
import type { ConsentTable } from "./schema.ts";
import type { Session } from "./session.ts";

const CONSENT = prepared((db, { userId, phone }: { userId: string; phone: string }) =>
  db.selectFrom("consents").selectAll().where("user_id", "=", userId).where("phone", "=", phone),
);

/** What users know about the numbers that they call. */
export function consentStore(session: Session): ConsentStore {
  return {
    async get(userId, phone) {
      const [row] = await session.query(CONSENT, { userId, phone });
      return row && consentOf(row);
    },
    ofNumbers: (userId, phones) =>
      session.read(async (db) => {
        const ofUser = db.selectFrom("consents").selectAll().where("user_id", "=", userId);
        return (await ofUser.where("phone", "in", phones).execute()).map(consentOf);
      }),
    put: (consent) =>
      session.transaction(async (tx) => {
        const row = rowOf(consent);
        const { status, source, updated_at } = row;
        // Again if it is deleted in between.
        for (;;) {
          const inserted = await tx
            .insertInto("consents")
            .values(row)
            .onConflict((conflict) => conflict.columns(["user_id", "phone"]).doNothing())
            .returning("phone")
            .executeTakeFirst();
          if (inserted) return { created: true, consent };
          const replaced = await tx
            .updateTable("consents")
            .set({ status, source, updated_at })
            .where("user_id", "=", row.user_id)
            .where("phone", "=", row.phone)
            .returningAll()
            .executeTakeFirst();
          if (replaced) return { created: false, consent: consentOf(replaced) };
        }
      }),
    delete: (userId, phone) =>
      session.write(async (db) => {
        const deleted = await db
          .deleteFrom("consents")
          .where("user_id", "=", userId)
          .where("phone", "=", phone)
          .returning("phone")
          .executeTakeFirst();
        return deleted !== undefined;
      }),
    list: (userId, { status }, { after, limit }) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("consents")
          .selectAll()
          .where("user_id", "=", userId)
          .$if(status !== undefined, (query) => query.where("status", "=", status ?? "granted"))
          .$if(after !== undefined, (query) => query.where("phone", ">", after ?? ""))
          .orderBy("phone")
          .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
          .execute();
        return rows.map(consentOf);
      }),
  };
}

function rowOf({ userId, phone, status, source, createdAt, updatedAt }: Consent) {
  const json = source === null ? null : JSON.stringify(source);
  return { user_id: userId, phone, status, source: json, created_at: createdAt, updated_at: updatedAt };
}

function consentOf(row: Selectable<ConsentTable>): Consent {
  return {
    userId: row.user_id,
    phone: row.phone,
    status: row.status,
    source: row.source === null ? null : JSON.parse(row.source),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
