import { CodedError } from "../base/error.ts";

/** Reason why a request is refused; the `code` of a problem document, and of the error that a use case throws. */
export type RefusalCode =
  | "invalid_request"
  | "invalid_json"
  | "required"
  | "type_invalid"
  | "value_invalid"
  | "too_short"
  | "too_long"
  | "unknown_field"
  | "phone_number_invalid"
  | "voice_invalid"
  | "voice_unavailable"
  | "text_unspeakable"
  | "agent_unavailable"
  | "audio_unsupported"
  | "provider_unknown"
  | "unauthorized"
  | "insufficient_scope"
  | "demo_token_restricted"
  | "destination_not_allowed"
  | "caller_id_not_allowed"
  | "not_found"
  | "instance_not_found"
  | "call_not_found"
  | "voice_not_found"
  | "webhook_not_found"
  | "delivery_not_found"
  | "consent_not_found"
  | "audio_not_found"
  | "batch_not_found"
  | "target_not_found"
  | "link_page_not_found"
  | "link_page_expired"
  | "log_reset"
  | "instance_already_linked"
  | "linked_by_operator"
  | "instance_quota"
  | "webhook_quota"
  | "consent_quota"
  | "audio_quota"
  | "batch_quota"
  | "batch_full"
  | "batch_not_draft"
  | "batch_open"
  | "batch_state"
  | "batch_invalid"
  | "batch_empty"
  | "variable_missing"
  | "placeholder_invalid"
  | "duplicate"
  | "storage_quota"
  | "webhook_disabled"
  | "delivery_quota"
  | "qr_unavailable"
  | "pairing_code_unsupported"
  | "pairing_code_unavailable"
  | "queue_full"
  | "idempotency_key_invalid"
  | "idempotency_key_reused"
  | "idempotency_key_in_progress"
  | "speech_unavailable"
  | "storage_unavailable"
  | "server_busy"
  | "stopping"
  | "not_a_stream_call"
  | "stream_already_attached"
  | "too_many_listeners"
  | "call_ended"
  | "stream_not_available"
  | "upgrade_required"
  | "recording_not_ready"
  | "recording_not_found"
  | "range_not_satisfiable"
  | "method_not_allowed"
  | "unsupported_media_type"
  | "body_too_large"
  | "request_timeout"
  | "rate_limited"
  | "daily_call_limit"
  | "internal_error";

/** One fault of an input. */
export interface Fault {
  /** JSON Pointer (RFC 6901) into the request body; "" is the body itself, or something outside of it. */
  readonly pointer: string;
  /** The query parameter that is wrong, if it is one. */
  readonly parameter?: string;
  readonly code: RefusalCode;
  /** A sentence that names the wrong value and the fix. */
  readonly detail: string;
}

/** Thrown by a use case that refuses a request; no change was made. */
export class Refusal extends CodedError {
  override readonly name = "Refusal";
  readonly code: RefusalCode;
  /** All faults of the input at once; empty for a refusal that is not about the input. */
  readonly errors: readonly Fault[];
  /** The limit that was reached, if the refusal is about one. */
  readonly limit: number | undefined;
  /** The cursor to continue from, if the requested one is no longer valid. */
  readonly cursor: string | undefined;
  /** Time from now after which the same request may succeed, ms; undefined if unknown. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: RefusalCode,
    detail: string,
    options: {
      errors?: readonly Fault[];
      limit?: number;
      cursor?: string;
      retryAfterMs?: number;
      cause?: unknown;
    } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.errors = options.errors ?? [];
    this.limit = options.limit;
    this.cursor = options.cursor;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** A refusal for faulty input: its code is the faults' own if they agree, otherwise `invalid_request`. */
export function invalidInput(errors: readonly [Fault, ...Fault[]]): Refusal {
  const [first] = errors;
  const isOneCode = errors.every((fault) => fault.code === first.code);
  const suffix = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : "";
  const isSpecific = isOneCode && SPECIFIC_CODES.has(first.code);
  return new Refusal(
    isSpecific ? first.code : "invalid_request",
    `${first.pointer || "body"}: ${first.detail}${suffix}`,
    {
      errors,
    },
  );
}

/** Codes that name the fault of the request. */
const SPECIFIC_CODES: ReadonlySet<RefusalCode> = new Set([
  "invalid_json",
  "phone_number_invalid",
  "voice_invalid",
  "voice_unavailable",
  "text_unspeakable",
  "agent_unavailable",
  "audio_unsupported",
  "provider_unknown",
]);
