import type { Database } from "../../adapters/storage/tables/all-tables.ts";
import type { AccountRefusalCode } from "../../src/domain/access/account-refusal.ts";
import type { RefusalCode } from "../../src/domain/refusal.ts";
import type { SourceFile } from "./source-files.ts";

/** Treatment of a row beyond a limit, if the request is not refused with a code. */
export const ENDINGS = {
  oldest: "the oldest rows are deleted",
  age: "rows are deleted at this age, and until then only their rate is limited",
  replaced: "the row replaces the previous one",
  error: "the network's adapter gets an error",
  parent: "each row of another table has at most this many, and is deleted with it",
  counted: "the row is stored, and counts towards its user's bytes: the next creation is refused",
  operator: "only the server's operator adds rows, or allows others to",
} as const;

/** The limit of a table. */
export interface TableLimit {
  /** The number of rows. */
  readonly rows: string;
  /** Treatment beyond it: a refusal's code, or another ending. */
  readonly treatment: RefusalCode | AccountRefusalCode | keyof typeof ENDINGS;
  /** The files and the names in them that enforce it. */
  readonly enforcedBy: readonly (readonly [file: string, name: string])[];
  /** The files of adapters/storage that insert rows. */
  readonly insertedIn: readonly string[];
  /** The test of the treatment beyond it: its file, and the beginning of its title. */
  readonly test?: readonly [file: string, title: string];
  /** Gap in the limit. */
  readonly gap?: string;
}

const LIMITS = "src/domain/limits.ts";
const BYTES = "adapters/storage/stored-bytes.ts";
const CONTRACT = "src/testing/storage-contract";
const ACCOUNTS = "src/application/accounts";

/** Every table in the database and its limit. A new table does not compile until it is here. */
export const TABLE_LIMITS: { readonly [Table in keyof Database]: TableLimit } = {
  users: {
    rows: "one for each account, or name of a token's user",
    treatment: "operator",
    enforcedBy: [["src/application/tokens/tokens.ts", "userName"]],
    insertedIn: ["account-store.ts", "code-store.ts"],
    gap: "with open registration, anyone can add one: only scrypt and the proxy limit how fast",
  },
  accounts: {
    rows: "one for each person with an invitation",
    treatment: "registration_closed",
    enforcedBy: [[`${ACCOUNTS}/accounts.ts`, "#registrationCode"]],
    insertedIn: ["code-store.ts"],
    test: ["test/application/accounts/registration.test.ts", "by invitation needs one, and uses it up"],
    gap: "with open registration, anyone can add one: only scrypt and the proxy limit how fast",
  },
  batches: {
    rows: "200 for each user",
    treatment: "batch_quota",
    enforcedBy: [[LIMITS, "batchesPerUser"]],
    insertedIn: ["batch-store.ts"],
    test: [`${CONTRACT}/batches.ts`, "a batch beyond the limit of its user is not stored"],
  },
  stored_audio: {
    rows: "1,000 for each user, and expired or deleted ones; all count towards their bytes",
    treatment: "audio_quota",
    enforcedBy: [[LIMITS, "audioFilesPerUser"]],
    insertedIn: ["stored-audio-store.ts"],
    test: [`${CONTRACT}/stored-audio.ts`, "a user never has more files than allowed"],
  },
  batch_targets: {
    rows: "100,000 for each batch",
    treatment: "batch_full",
    enforcedBy: [[LIMITS, "targetsPerBatch"]],
    insertedIn: ["new-targets.ts"],
    test: [`${CONTRACT}/batches.ts`, "targets beyond the limit of a batch are not stored"],
    gap: "a user may have 20 million: the operator lowers both limits, or calls fewer people",
  },
  batch_counts: {
    rows: "one for each status and reason",
    treatment: "parent",
    enforcedBy: [["adapters/storage/batches/target-counts.ts", "ADD_TO_COUNT"]],
    insertedIn: ["target-counts.ts"],
  },
  account_sessions: {
    rows: "100 for each account",
    treatment: "oldest",
    enforcedBy: [[`${ACCOUNTS}/sessions.ts`, "MAX_SESSIONS"]],
    insertedIn: ["login-store.ts", "code-store.ts"],
    test: [`${CONTRACT}/accounts/sessions.ts`, "a sign-in beyond the limit ends the oldest sessions of its account"],
  },
  account_codes: {
    rows: "100 open invitations, one code for the first start, and one for each account's new password",
    treatment: "invitation_quota",
    enforcedBy: [
      [`${ACCOUNTS}/one-time-codes.ts`, "MAX_INVITATIONS"],
      ["adapters/storage/tables/all-tables.ts", "IS_FIRST_CODE"],
      ["adapters/storage/tables/all-tables.ts", "IS_RESET_CODE"],
    ],
    insertedIn: ["code-store.ts"],
    test: [`${CONTRACT}/accounts/one-time-codes.ts`, "an invitation beyond the limit is not stored"],
  },
  audit_log: {
    rows: "10,000 for each account, for a year",
    treatment: "oldest",
    enforcedBy: [
      [`${ACCOUNTS}/audit-log.ts`, "MAX_ENTRIES"],
      [`${ACCOUNTS}/audit-log.ts`, "RETENTION_MS"],
    ],
    insertedIn: ["login-store.ts"],
    test: [`${CONTRACT}/accounts/account-removal.ts`, "an entry beyond its account's limit deletes"],
  },
  tokens: {
    rows: "100 valid ones and 100 revoked ones for each account",
    treatment: "token_quota",
    enforcedBy: [["src/application/tokens/tokens.ts", "MAX_TOKENS"]],
    insertedIn: ["account-store.ts"],
    test: [
      `${CONTRACT}/accounts/accounts.ts`,
      "an account's limit applies to its active tokens and, separately, to its revoked tokens",
    ],
    gap: "programs and the command line create any number",
  },
  instances: {
    rows: "1,000 for each user; deleted ones count towards their user's bytes",
    treatment: "instance_quota",
    enforcedBy: [
      [LIMITS, "instancesPerUser"],
      [LIMITS, "storedBytesPerUser"],
    ],
    insertedIn: ["instance-store.ts"],
    test: ["test/application/instances/instance-quota.test.ts", "a user creates as many instances as the limit allows"],
  },
  credentials: {
    rows: "one for each instance",
    treatment: "replaced",
    enforcedBy: [["adapters/storage/instances/sealed-stores.ts", "writeCredentials"]],
    insertedIn: ["sealed-stores.ts"],
  },
  line_records: {
    rows: "20,000 for each instance, of up to 1 MiB each",
    treatment: "error",
    enforcedBy: [
      ["src/application/encryption/sealed-records.ts", "MAX_RECORDS"],
      ["src/application/encryption/sealed-records.ts", "MAX_VALUE_BYTES"],
    ],
    insertedIn: ["sealed-stores.ts"],
    test: [`${CONTRACT}/line-records.ts`, "a write of too many records changes nothing"],
    gap: "their bytes count towards no user: the network's adapter writes them, and a user only causes it to",
  },
  consents: {
    rows: "100,000 for each user",
    treatment: "consent_quota",
    enforcedBy: [[LIMITS, "consentsPerUser"]],
    insertedIn: ["consent-store.ts"],
    test: ["test/application/consents.test.ts", "are limited; existing ones can still be replaced"],
  },
  calls: {
    rows: "as many as fit into a user's 4 GiB, and into the 12 MiB of an instance's demo tokens",
    treatment: "storage_quota",
    enforcedBy: [
      [LIMITS, "storedBytesPerUser"],
      [LIMITS, "storedBytesPerDemoInstance"],
    ],
    insertedIn: ["insert-call.ts"],
    test: [`${CONTRACT}/byte-budget.ts`, "a call that exceeds a budget is not created, and stores nothing"],
  },
  call_audio: {
    rows: "one file in parts for each active call, batch that has not ended, and stored audio file; counted with it",
    treatment: "storage_quota",
    enforcedBy: [[BYTES, "newCallCharges"]],
    insertedIn: ["audio-and-transcripts.ts"],
    test: [`${CONTRACT}/byte-budget.ts`, "a call that exceeds a budget is not created, and stores nothing"],
  },
  events: {
    rows: "those of calls and instances, counted when the call has ended, or when the instance changes",
    treatment: "counted",
    enforcedBy: [
      [BYTES, "finalCallBytes"],
      [BYTES, "eventBytes"],
    ],
    insertedIn: ["event-store.ts"],
    test: [`${CONTRACT}/byte-budget.ts`, "a call's events, audio file and transcript count towards its user's budget"],
    gap: "a live call has no limit but its duration",
  },
  transcripts: {
    rows: "those of calls, counted when the call has ended",
    treatment: "counted",
    enforcedBy: [[BYTES, "finalCallBytes"]],
    insertedIn: ["audio-and-transcripts.ts"],
    test: [`${CONTRACT}/byte-budget.ts`, "a call's events, audio file and transcript count towards its user's budget"],
    gap: "a live call has no limit but its duration",
  },
  event_counters: {
    rows: "one for each user",
    treatment: "parent",
    enforcedBy: [["adapters/storage/calls/event-store.ts", "counting"]],
    insertedIn: ["event-store.ts"],
    gap: "a deleted user's counter stays, because a position is never reused",
  },
  finished_counts: {
    rows: "two for each instance",
    treatment: "parent",
    enforcedBy: [["adapters/storage/calls/call-purge.ts", "countFinished"]],
    insertedIn: ["call-purge.ts"],
  },
  stored_usage: {
    rows: "one for each user, and one for each instance with demo tokens",
    treatment: "parent",
    enforcedBy: [[BYTES, "charge"]],
    insertedIn: ["stored-bytes.ts"],
  },
  receipts: {
    rows: "one for each creation with a key, counted with its record, for 24 hours",
    treatment: "storage_quota",
    enforcedBy: [
      [BYTES, "rowBytes"],
      ["src/application/idempotency/idempotency.ts", "RECEIPT_KEPT_MS"],
    ],
    insertedIn: ["receipt-store.ts"],
    test: [`${CONTRACT}/receipts.ts`, "a key with a receipt creates no other record"],
  },
  removed_calls: {
    rows: "one for each deleted call and each transfer in the last 24 hours",
    treatment: "age",
    enforcedBy: [["src/domain/calls/call-limits.ts", "CALL_WINDOW_MS"]],
    insertedIn: ["insert-call.ts"],
    test: [`${CONTRACT}/call-quota.ts`, "deleted calls and transfers are forgotten up to a given time"],
  },
  trusted_time: {
    rows: "one",
    treatment: "replaced",
    enforcedBy: [["adapters/storage/bounded-deletions.ts", "saveTrustedTime"]],
    insertedIn: ["bounded-deletions.ts"],
  },
  webhooks: {
    rows: "20 for each user",
    treatment: "webhook_quota",
    enforcedBy: [[LIMITS, "webhooksPerUser"]],
    insertedIn: ["webhook-store.ts"],
    test: [`${CONTRACT}/webhooks.ts`, "concurrent creations succeed up to the limit"],
  },
  webhook_deliveries: {
    rows: "1,000 pending and 1,000 finished tests and replays for each webhook; one for each event that it wants",
    treatment: "delivery_quota",
    enforcedBy: [
      ["src/application/webhooks/webhooks.ts", "MAX_REQUESTED"],
      ["src/application/webhooks/endpoints.ts", "RETENTION_MS"],
    ],
    insertedIn: ["webhook-store.ts"],
    test: [`${CONTRACT}/webhooks.ts`, "a test or a replay is not stored while too many are pending"],
    gap: "deliveries of events count towards no user: each webhook has one for each event of the last 7 days",
  },
  owners: {
    rows: "one for each resource of the server",
    treatment: "replaced",
    enforcedBy: [["adapters/storage/tables/all-tables.ts", "WHOLE_DATABASE"]],
    insertedIn: ["connect-sqlite.ts", "postgres-lease.ts"],
  },
};

/** The tables into which a file of the storage inserts rows, each with the file's name. */
export function insertionsOf({ path, text }: SourceFile): string[] {
  const file = path.slice(path.lastIndexOf("/") + 1);
  return [...text.matchAll(/\binsertInto\(\s*"?(\w*)/g)].map(([, table]) => `${table} ${file}`);
}
