import { type Kysely, sql } from "kysely";
import type { ColumnTypes } from "./first-tables.ts";

const BATCH = 100;

interface ReceiptKey {
  readonly user_id: string;
  readonly scope: string;
  readonly key: string;
}

/** Before every key. */
const FIRST: ReceiptKey = { user_id: "", scope: "", key: "" };

interface OldReceipt extends ReceiptKey {
  /** JSON of a call or an instance at the end of the request. */
  readonly result: string;
}

/**
 * A receipt names its record instead of holding a copy. Existing receipts are converted, also those of a call that
 * existed already. No process runs a request while this step runs, so unfinished ones are left over.
 */
export async function receiptIds(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  const receipts = sql.table("receipts");
  await schema.dropIndex("receipts_unfinished").execute();
  await sql`delete from ${receipts} where result is null`.execute(db);
  await schema
    .alterTable("receipts")
    .addColumn("record_id", id, (column) => column.notNull().defaultTo(""))
    .execute();
  await schema.alterTable("receipts").addColumn("existing_status", id).execute();
  for (let last: ReceiptKey | undefined = FIRST; last !== undefined; ) {
    const { rows } = await sql<OldReceipt>`select user_id, scope, key, result from ${receipts}
      where (user_id, scope, key) > (${last.user_id}, ${last.scope}, ${last.key})
      order by user_id, scope, key limit ${BATCH}`.execute(db);
    for (const { user_id, scope, key, result } of rows) {
      const record = JSON.parse(result) as { id: string; status: string; created?: boolean };
      const existing = record.created === false ? record.status : null;
      await sql`update ${receipts} set record_id = ${record.id}, existing_status = ${existing}, result = null
        where user_id = ${user_id} and scope = ${scope} and key = ${key}`.execute(db);
    }
    last = rows.length < BATCH ? undefined : rows.at(-1);
  }
  await schema.alterTable("receipts").dropColumn("result").execute();
  await schema.createIndex("receipts_of_record").on("receipts").columns(["record_id"]).execute();
}
