import type { SourceFile } from "./source-files.ts";

/**
 * The statements that delete rows by themselves, with the bound of their number. All other deletions use `deletePiece`
 * (adapters/storage/pieces.ts), which has a limit.
 */
export const BOUNDED_DELETIONS: ReadonlyMap<string, string> = new Map([
  ["audio-removal.ts call_audio", "the parts of one file"],
  ["call-purge.ts calls", "50 calls"],
  ["code-store.ts account_codes", "one row"],
  ["consent-store.ts consents", "one row"],
  ["credential-store.ts credentials", "one row"],
  ["credential-store.ts line_records", "the records of one line, which are erased together with its credentials"],
  ["instance-purge.ts finished_counts", "one row for each final status of an instance"],
  ["instance-purge.ts instances", "one row"],
  ["line-record-store.ts line_records", "the records of one line"],
  ["login-store.ts account_codes", "one row: an account has one code for a new password"],
  ["login-store.ts account_sessions", "the sessions of one account, which a new password ends together"],
  ["pieces.ts table", "its limit: this is deletePiece"],
  ["registration.ts account_codes", "one row"],
  ["stored-bytes.ts stored_usage", "one row for each kind, of up to 250 instances"],
  ["user-removal.ts account_codes", "the codes of one account"],
  ["user-removal.ts account_sessions", "the sessions of one account"],
  ["user-removal.ts accounts", "one row"],
  ["user-removal.ts consents", "those that were stored after forgetUser had deleted them in pieces"],
  ["user-removal.ts finished_counts", "one row for each final status of up to 250 instances"],
  ["user-removal.ts instances", "250 instances"],
  ["user-removal.ts stored_usage", "one row for each kind"],
  ["webhook-store.ts webhooks", "one row"],
]);

/** The deletions in a file of the storage: the file and the table. */
export function deletionsOf({ path, text }: SourceFile): string[] {
  const file = path.slice(path.lastIndexOf("/") + 1);
  return [...text.matchAll(/\bdeleteFrom\(\s*"?(\w*)/g)].map(([, table]) => `${file} ${table}`);
}
