import { RECORDS } from "./records.ts";
import type { Database } from "./schema.ts";
import type { NumberPlace } from "./stored-record.ts";

type Places = {
  readonly [Table in keyof Database]: { readonly [Column in keyof Database[Table]]: readonly NumberPlace[] };
};

const NONE = ["none"] as const;
const KEPT = ["kept"] as const;

/** Every column of the database, and what happens to a phone number in it. A new column does not compile until it is here or in records.ts. */
export const NUMBER_PLACES: Places = {
  users: RECORDS.users.numbers,
  tokens: RECORDS.tokens.numbers,
  instances: { ...RECORDS.instances.numbers, stored_bytes: NONE },
  credentials: { instance_id: NONE, sealed: NONE },
  line_records: { instance_id: NONE, key: ["record"], sealed: NONE },
  consents: RECORDS.consents.numbers,
  calls: { ...RECORDS.calls.numbers, type: NONE, counted_at: NONE, demo_scope: NONE, stored_bytes: NONE },
  call_audio: { call_id: NONE, part: NONE, bytes: NONE },
  finished_counts: { instance_id: NONE, status: NONE, calls: NONE },
  events: { ...RECORDS.events.numbers, position: NONE },
  event_counters: { user_id: NONE, position: NONE, numbered: NONE },
  receipts: {
    ...{ user_id: NONE, scope: NONE, record_id: NONE, existing_status: NONE, created_at: NONE },
    key: KEPT, // a repeated request must not call again
    fingerprint: NONE, // a hash, deleted with the call
  },
  stored_usage: { owner: NONE, kind: NONE, amount: NONE },
  removed_calls: { token_id: NONE, created_at: NONE },
  transcripts: RECORDS.transcripts.numbers,
  trusted_time: { id: NONE, at: NONE, claimed_at: NONE, waited_ms: NONE, step_ms: NONE, stepped_ago_ms: NONE },
  webhooks: RECORDS.webhooks.numbers,
  webhook_deliveries: { ...RECORDS.webhook_deliveries.numbers, requested: NONE },
  owners: { name: NONE, epoch: NONE, owner: NONE, expires_at: NONE },
  accounts: { ...RECORDS.accounts.numbers, email_key: NONE, removal_begun_at: NONE },
  account_sessions: RECORDS.account_sessions.numbers,
  account_codes: RECORDS.account_codes.numbers,
  audit_log: RECORDS.audit_log.numbers,
};

/** The columns of a table whose number has this fate. */
export function columnsWith<Table extends keyof Database>(table: Table, place: NumberPlace): (keyof Database[Table])[] {
  const columns = Object.entries(NUMBER_PLACES[table]) as [keyof Database[Table], readonly NumberPlace[]][];
  return columns.filter(([, places]) => places.includes(place)).map(([column]) => column);
}
