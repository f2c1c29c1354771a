import type { Database } from "./schema.ts";

/**
 * Fate of a phone number in a column when its person is erased:
 * - `call`: the call is deleted with everything that belongs to it.
 * - `link`: the event of a link is deleted once the number is no longer linked to its instance.
 * - `record`: the record of the line is deleted, unless the number is linked to its instance.
 * - `reported`: the instance is named; it can be deleted.
 * - `kept`: it stays, for a reason that `docs/SECURITY.md` gives.
 * - `none`: the column holds no number of a person.
 */
export type NumberPlace = "call" | "link" | "record" | "reported" | "kept" | "none";

type Places = {
  readonly [Table in keyof Database]: { readonly [Column in keyof Database[Table]]: readonly NumberPlace[] };
};

const NONE = ["none"] as const;
const CALL = ["call"] as const;
const KEPT = ["kept"] as const;

/** Every column of the database, and what happens to a phone number in it. A new column does not compile until it is here. */
export const NUMBER_PLACES: Places = {
  users: { id: NONE, name: NONE, created_at: NONE },
  tokens: {
    ...{ id: NONE, user_id: NONE, label: NONE, hash: NONE, demo_instance_id: NONE, max_calls_per_day: NONE },
    allowed_prefixes: KEPT, // a limit of the token
    ...{ scopes: NONE, created_at: NONE, expires_at: NONE, revoked_at: NONE, last_used_at: NONE },
  },
  instances: {
    ...{ id: NONE, user_id: NONE, status: NONE, provider: NONE, linked_at: NONE, pause: NONE },
    ...{ name: KEPT, metadata: KEPT }, // the words of its owner
    phone: ["reported"],
    caller_id: KEPT, // the number that its owner calls from
    dialled_number: NONE, // a keyed hash
    ...{ created_at: NONE, updated_at: NONE, erased_at: NONE, stored_bytes: NONE, version: NONE },
  },
  credentials: { instance_id: NONE, sealed: NONE },
  line_records: { instance_id: NONE, key: ["record"], sealed: NONE },
  consents: {
    ...{ user_id: NONE, status: NONE, created_at: NONE, updated_at: NONE },
    ...{ phone: KEPT, source: KEPT }, // so that nobody is called later who asked not to be
  },
  calls: {
    ...{
      id: NONE,
      instance_id: NONE,
      user_id: NONE,
      token_id: NONE,
      max_calls_per_day: NONE,
      status: NONE,
      type: NONE,
    },
    allowed_prefixes: KEPT,
    target_phone: CALL,
    caller_id: KEPT,
    ...{ sip: CALL, sip_call_id: CALL, message: CALL, reference: CALL, metadata: CALL, outcome: CALL },
    ...{ result: CALL, result_error: CALL, turns: CALL },
    ...{ media_statistics: NONE, quality: NONE, recorded_ms: NONE },
    ...{ created_at: NONE, started_at: NONE, ended_at: NONE, slot: NONE, owner: NONE, dialing_at: NONE },
    ...{ counted_at: NONE, demo_scope: NONE, stored_bytes: NONE, version: NONE },
  },
  call_audio: { call_id: NONE, part: NONE, bytes: NONE },
  finished_counts: { instance_id: NONE, status: NONE, calls: NONE },
  events: {
    ...{ id: NONE, type: NONE, at: NONE, call_id: NONE, instance_id: NONE, user_id: NONE, position: NONE },
    data: ["call", "link"],
  },
  event_counters: { user_id: NONE, position: NONE, numbered: NONE },
  receipts: {
    ...{ user_id: NONE, scope: NONE, record_id: NONE, existing_status: NONE, created_at: NONE },
    key: KEPT, // a repeated request must not call again
    fingerprint: NONE, // a hash, deleted with the call
  },
  stored_usage: { owner: NONE, kind: NONE, amount: NONE },
  removed_calls: { token_id: NONE, created_at: NONE },
  transcripts: {
    ...{ call_id: NONE, position: NONE, speaker: NONE, at: NONE, start_ms: NONE, end_ms: NONE, confidence: NONE },
    text: CALL,
  },
  trusted_time: { id: NONE, at: NONE, claimed_at: NONE, waited_ms: NONE, step_ms: NONE, stepped_ago_ms: NONE },
  webhooks: {
    ...{ id: NONE, user_id: NONE, url: NONE, events: NONE, description: NONE, header_names: NONE },
    ...{ sealed_headers: NONE, sealed_key: NONE, sealed_old_key: NONE, old_key_until: NONE, disabled_reason: NONE },
    ...{ position: NONE, created_at: NONE, updated_at: NONE, version: NONE },
  },
  webhook_deliveries: {
    ...{ id: NONE, webhook_id: NONE, event_id: NONE, event_type: NONE, status: NONE, attempts: NONE },
    body: NONE, // of tests only; a delivery reads its event
    requested: NONE,
    ...{ next_attempt_at: NONE, last_attempt_at: NONE, last_status: NONE, last_error: NONE, created_at: NONE },
  },
  owners: { name: NONE, epoch: NONE, owner: NONE, expires_at: NONE },
  accounts: {
    ...{ id: NONE, user_id: NONE, email: NONE, email_key: NONE, password_hash: NONE, role: NONE },
    ...{ created_at: NONE, removal_begun_at: NONE },
  },
  account_sessions: {
    ...{ id: NONE, account_id: NONE, hash: NONE, created_at: NONE, last_used_at: NONE, expires_at: NONE },
    user_agent: NONE,
  },
  account_codes: { id: NONE, purpose: NONE, hash: NONE, account_id: NONE, created_at: NONE, expires_at: NONE },
  audit_log: { id: NONE, at: NONE, account_id: NONE, email: NONE, action: NONE, subject: KEPT },
};

/** The columns of a table whose number has this fate. */
export function columnsWith<Table extends keyof Database>(table: Table, place: NumberPlace): (keyof Database[Table])[] {
  const columns = Object.entries(NUMBER_PLACES[table]) as [keyof Database[Table], readonly NumberPlace[]][];
  return columns.filter(([, places]) => places.includes(place)).map(([column]) => column);
}
