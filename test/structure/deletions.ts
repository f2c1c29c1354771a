import type { SourceFile } from "./source-files.ts";

/**
 * Statements that delete rows directly, each with the reason why their number is bounded. All other deletions use
 * `deletePiece` (adapters/storage/bounded-deletions.ts), which has a limit.
 */
export const BOUNDED_DELETIONS: ReadonlyMap<string, string> = new Map([
  ["account-store.ts account_codes", "the codes of one account"],
  ["account-store.ts account_sessions", "the sessions of one account"],
  ["account-store.ts accounts", "one row"],
  ["account-store.ts consents", "those that were stored after forgetUser had deleted them in pieces"],
  ["account-store.ts finished_counts", "one row for each final status of up to 250 instances"],
  ["account-store.ts instances", "250 instances"],
  ["account-store.ts stored_usage", "one row for each kind"],
  ["audio-and-transcripts.ts call_audio", "the parts of one file"],
  ["batch-store.ts batch_counts", "one row for each status and reason of a batch"],
  ["batch-store.ts batches", "one row"],
  ["batch-store.ts call_audio", "the parts of one file"],
  ["bounded-deletions.ts table", "its limit: this is deletePiece"],
  ["call-purge.ts calls", "50 calls"],
  ["code-store.ts account_codes", "one row"],
  ["consent-store.ts consents", "one row"],
  ["instance-store.ts finished_counts", "one row for each final status of an instance"],
  ["instance-store.ts instances", "one row"],
  ["login-store.ts account_codes", "one row: an account has one code for a new password"],
  ["login-store.ts account_sessions", "the sessions of one account, which a new password ends together"],
  ["sealed-stores.ts credentials", "one row"],
  ["sealed-stores.ts line_records", "the records of one line"],
  ["stored-audio-store.ts stored_audio", "one row"],
  ["stored-bytes.ts stored_usage", "one row for each kind, of up to 250 instances"],
  ["target-store.ts batch_targets", "one row"],
  ["webhook-store.ts webhooks", "one row"],
]);

/** The deletions in a file of the storage: the file and the table. */
export function deletionsOf({ path, text }: SourceFile): string[] {
  const file = path.slice(path.lastIndexOf("/") + 1);
  return [...text.matchAll(/\bdeleteFrom\(\s*"?(\w*)/g)].map(([, table]) => `${file} ${table}`);
}
