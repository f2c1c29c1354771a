/** Statements that fill an empty PostgreSQL database with a busy server's rows; most belong to one user. */
export const MANY_ROWS: readonly string[] = [
  // 10,000 final calls on 20 instances, to 400 numbers.
  rows(
    "calls",
    "id, instance_id, user_id, token_id, counted_at, status, type, target_phone, message, reference, created_at, ended_at, slot, version",
    `'call_' || n, 'inst_' || n % 20, 'usr_1', 'tok_' || n % 20, n, case n % 2 when 0 then 'FAILED' else 'COMPLETED' end,
    (array['FIXED_TTS', 'FIXED_AUDIO', 'DYNAMIC_STREAM'])[1 + n % 3], '+1555' || 10000 + n % 400, '{}',
    'order ' || n % 4000, n, n, 0, 1`,
  ),
  rows("removed_calls", "token_id, created_at", "'tok_' || n % 20, n"),
  rows(
    "events",
    "id, type, at, call_id, instance_id, user_id, data, position",
    "'evt_' || n, 'queued', n, 'call_' || n / 2, 'inst_' || n % 20, 'usr_1', '{}', n",
  ),
  rows(
    "transcripts",
    "call_id, position, speaker, text, at, start_ms, end_ms",
    "'call_' || n / 8, n, 'callee', '\"Hello\"', n, n, n",
  ),
  rows("call_audio", "call_id, part, bytes", "'call_' || n, 0, '\\x00'::bytea"),
  rows(
    "instances",
    "id, user_id, name, status, metadata, provider, phone, created_at, updated_at, erased_at, version",
    `'inst_' || n, 'usr_' || n % 200, 'Reception', (array['CREATED', 'CONFIGURED', 'ACTIVE', 'DELETED'])[1 + n % 4], '{}',
    'simulator', '+1555' || n, n, n, case n % 4 when 3 then n end, 1`,
  ),
  rows(
    "batches",
    "id, user_id, name, status, instance_ids, message, schedule, gap_ms, last_position, ended_at, created_at, updated_at, version",
    `'batch_' || n, 'usr_' || n % 200, 'Reminders', (array['DRAFT', 'COMPLETED', 'CANCELLED', 'COMPLETED'])[1 + n % 4], '[]',
    '{}', '{}', 0, 1, n, n, n, 1`,
  ),
  rows(
    "batch_targets",
    "batch_id, position, source_row, phone, status, phone_key, zones, attempts, next_attempt_at, updated_at, version",
    `'batch_' || n % 20, n, n, '"+1"', (array['WAITING', 'COMPLETED', 'FAILED', 'COMPLETED'])[1 + n % 4], '+1202' || n, '', 1, n, n, 1`,
  ),
  rows("batch_counts", "batch_id, status, reason, targets", "'batch_' || n, 'COMPLETED', 'message_played', 1"),
  rows("credentials", "instance_id, sealed", "'inst_' || n, '\\x00'::bytea"),
  rows("line_records", "instance_id, key, sealed", "'inst_' || n / 40, 'key ' || n, '\\x00'::bytea"),
  rows("finished_counts", "instance_id, status, calls", "'inst_' || n, 'FAILED', 1"),
  rows("stored_usage", "owner, kind, amount", "'usr_many_' || n, 'bytes', 1"),
  rows("event_counters", "user_id, position, numbered", "'usr_' || n, n, 0"),
  rows("users", "id, name, created_at", "'usr_' || n, 'Ada ' || n, n"),
  rows("tokens", "id, user_id, label, hash, created_at", "'tok_' || n, 'usr_' || n % 1000, 'laptop', 'hash ' || n, n"),
  rows(
    "stored_audio",
    "id, user_id, sha256, size_bytes, file, created_at, expires_at, deleted_at, stored_bytes",
    `'audio_' || n, 'usr_' || n % 200, 'hash ' || n, 1, '{}', n, case n % 10 when 0 then n end, case n % 50 when 1 then n end, 1`,
  ),
  rows(
    "consents",
    "user_id, phone, status, created_at, updated_at",
    "'usr_' || n % 200, '+1202' || 10000 + n, case n % 100 when 0 then 'do_not_call' else 'granted' end, n, n",
  ),
  rows(
    "receipts",
    "user_id, scope, key, fingerprint, record_id, created_at",
    "'usr_' || n % 200, '', 'key ' || n, 'body', 'call_' || n, n",
  ),
  rows(
    "webhooks",
    "id, user_id, url, disabled_reason, sealed_key, position, created_at, updated_at, version",
    `'hook_' || n, 'usr_' || n / 10, 'https://example.com', case n % 2 when 0 then 'requested' end, '\\x00'::bytea,
    n, n, n, 1`,
  ),
  rows(
    "webhook_deliveries",
    "id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, last_attempt_at, created_at",
    `'dlv_' || n, 'hook_' || n % 4, 'evt_' || n, 'queued',
    (array['pending', 'failed', 'delivered', 'delivered', 'delivered'])[1 + n % 5], 1, case n % 5 when 0 then n end, n, n`,
  ),
  rows(
    "accounts",
    "id, user_id, email, email_key, password_hash, role, created_at",
    "'acc_' || n, 'usr_' || n, n || '@example.com', n || '@example.com', 'hash', 'member', n",
  ),
  rows(
    "account_sessions",
    "id, account_id, hash, created_at, last_used_at, expires_at",
    "'ses_' || n, 'acc_' || n / 4, 'hash ' || n, n, n, n",
  ),
  rows(
    "account_codes",
    "id, purpose, hash, account_id, created_at, expires_at",
    "'code_' || n, case n % 100 when 0 then 'invitation' else 'reset' end, 'hash ' || n, 'acc_' || n, n, n",
  ),
  rows("audit_log", "id, at, account_id, action", "'aud_' || n, n, 'acc_' || n % 100, 'signed in'"),
];

/** 10,000 rows of a table; `n` is different in each. */
function rows(table: string, columns: string, values: string): string {
  return `insert into ${table} (${columns}) select ${values} from generate_series(10, 10009) n on conflict do nothing`;
}
