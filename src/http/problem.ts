import { type Fault, Refusal, type RefusalCode } from "../domain/refusal.ts";
import type { Reply } from "../ports/web.ts";
import type { PathFault } from "./path-fault.ts";

/** Codes of problem documents: the code of every refusal, and `not_ready`, which only HTTP uses. */
export type ProblemCode = RefusalCode | "not_ready";

/** The HTTP form of a code. */
export interface ProblemKind {
  readonly status: number;
  /** Always the same for a code (RFC 9457 §3.1.3). */
  readonly title: string;
  /** Headers of every response with this code; lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

const AGAIN_IN_1_S = { "retry-after": "1" };
const AGAIN_IN_5_S = { "retry-after": "5" };

/** Status, title and headers of every code. */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemKind>> = {
  invalid_request: { status: 400, title: "The request is invalid" },
  invalid_json: { status: 400, title: "The body is not a JSON object" },
  required: { status: 400, title: "A required field is missing" },
  type_invalid: { status: 400, title: "A field has the wrong type" },
  value_invalid: { status: 400, title: "A value is not allowed" },
  too_short: { status: 400, title: "A value is too short" },
  too_long: { status: 400, title: "A value is too long" },
  unknown_field: { status: 400, title: "The field is unknown" },
  phone_number_invalid: { status: 400, title: "The phone number is not in E.164 form" },
  voice_invalid: { status: 400, title: "The voice identifier is malformed" },
  voice_unavailable: { status: 400, title: "The voice is not available here" },
  text_unspeakable: { status: 400, title: "The voice cannot speak the text" },
  agent_unavailable: { status: 400, title: "Nobody can conduct this call here" },
  audio_unsupported: { status: 400, title: "The audio file cannot be played" },
  provider_unknown: { status: 400, title: "The telephony provider is unknown" },
  idempotency_key_invalid: { status: 400, title: "The idempotency key is malformed" },
  // RFC 9110 §11.6.1: a 401 names the scheme to use.
  unauthorized: { status: 401, title: "A valid bearer token is required", headers: { "www-authenticate": "Bearer" } },
  insufficient_scope: { status: 403, title: "The token lacks the required scope" },
  demo_token_restricted: { status: 403, title: "A demo token may not do this" },
  destination_not_allowed: { status: 403, title: "This number may not be called" },
  caller_id_not_allowed: { status: 403, title: "Calls may not come from this number" },
  not_found: { status: 404, title: "There is no such route" },
  instance_not_found: { status: 404, title: "There is no such instance" },
  call_not_found: { status: 404, title: "There is no such call" },
  voice_not_found: { status: 404, title: "There is no such voice" },
  recording_not_found: { status: 404, title: "There is no such recording" },
  webhook_not_found: { status: 404, title: "There is no such webhook" },
  consent_not_found: { status: 404, title: "Nothing is recorded about the number" },
  delivery_not_found: { status: 404, title: "There is no such delivery" },
  link_page_not_found: { status: 404, title: "There is no such link page" },
  method_not_allowed: { status: 405, title: "The method is not allowed" },
  // The rest of the body may never arrive, so the connection cannot be reused.
  request_timeout: { status: 408, title: "The body took too long", headers: { connection: "close" } },
  instance_already_linked: { status: 409, title: "The instance is already linked" },
  linked_by_operator: { status: 409, title: "The operator links the numbers of this network" },
  instance_quota: { status: 409, title: "The user is at their limit of instances" },
  webhook_quota: { status: 409, title: "The user is at their limit of webhooks" },
  storage_quota: { status: 409, title: "The user is at their limit of stored bytes" },
  consent_quota: { status: 409, title: "The user is at their limit of consents" },
  delivery_quota: { status: 409, title: "Too many tests and replays wait for their delivery" },
  webhook_disabled: { status: 409, title: "The webhook is disabled" },
  queue_full: { status: 409, title: "The queue of the instance is full" },
  idempotency_key_in_progress: {
    status: 409,
    title: "A request with this idempotency key is still running",
    headers: AGAIN_IN_1_S,
  },
  not_a_stream_call: { status: 409, title: "The call is not a stream call" },
  stream_already_attached: { status: 409, title: "A client is already attached to the stream" },
  too_many_listeners: { status: 409, title: "Too many listen to the call" },
  call_ended: { status: 409, title: "The call has ended" },
  pairing_code_unsupported: { status: 409, title: "The network has no pairing codes" },
  recording_not_ready: { status: 409, title: "The recording is not ready yet", headers: AGAIN_IN_1_S },
  link_page_expired: { status: 410, title: "The link page has expired" },
  log_reset: { status: 410, title: "The log was put back to an earlier state" },
  // The rest of the body stays unread, so the connection cannot be reused.
  body_too_large: { status: 413, title: "The body is too large", headers: { connection: "close" } },
  unsupported_media_type: {
    status: 415,
    title: "The body must be JSON in UTF-8",
    headers: { accept: "application/json" },
  },
  range_not_satisfiable: { status: 416, title: "The range is not satisfiable" },
  idempotency_key_reused: { status: 422, title: "The idempotency key was used with another request" },
  upgrade_required: {
    status: 426,
    title: "The route requires a WebSocket",
    headers: { upgrade: "websocket", connection: "upgrade" },
  },
  rate_limited: { status: 429, title: "Too many requests" },
  daily_call_limit: { status: 429, title: "The token is at its daily limit of calls" },
  internal_error: { status: 500, title: "The server made a mistake" },
  stream_not_available: { status: 501, title: "The stream is not available" },
  pairing_code_unavailable: {
    status: 503,
    title: "No pairing code is available at the moment",
    headers: AGAIN_IN_5_S,
  },
  qr_unavailable: { status: 503, title: "No QR code is available at the moment", headers: AGAIN_IN_5_S },
  speech_unavailable: { status: 503, title: "The voice is not available at the moment", headers: AGAIN_IN_5_S },
  storage_unavailable: { status: 503, title: "The storage is not available", headers: AGAIN_IN_1_S },
  server_busy: { status: 503, title: "The server is busy", headers: AGAIN_IN_5_S },
  stopping: { status: 503, title: "The server is stopping", headers: AGAIN_IN_5_S },
  not_ready: { status: 503, title: "The server is not ready", headers: AGAIN_IN_1_S },
};

/** A refusal of the HTTP layer, with its own headers and members. */
export class HttpRefusal extends Refusal {
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    code: RefusalCode,
    detail: string,
    extra: { headers?: Readonly<Record<string, string>>; members?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(code, detail);
    this.headers = extra.headers ?? {};
    this.members = extra.members ?? {};
  }
}

/** The request that a problem document is about. */
export interface FailedRequest {
  readonly base: string;
  readonly fullPath: string;
  readonly requestId: string;
}

/** A problem document (RFC 9457); its `type` is the address of the page that explains the code. */
export function problem(
  request: FailedRequest,
  code: ProblemCode,
  detail: string,
  extra: {
    errors?: readonly Fault[];
    headers?: Readonly<Record<string, string>>;
    members?: Readonly<Record<string, unknown>>;
  } = {},
): Reply {
  const { status, title, headers } = PROBLEMS[code];
  const faults: readonly Fault[] = extra.errors?.length ? extra.errors : [{ pointer: "", code: asFault(code), detail }];
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...headers,
      ...extra.headers,
    },
    body: JSON.stringify({
      type: `${request.base}/docs/errors#${code}`,
      title,
      status,
      detail,
      instance: request.fullPath.slice(0, 1024),
      code,
      request_id: request.requestId,
      ...extra.members,
      ...(status === 400 ? { errors: faults.map(faultView) } : {}),
    }),
  };
}

const faultView = ({ pointer, parameter, code, detail }: Fault): Fault =>
  parameter === undefined ? { pointer, code, detail } : { pointer, parameter, code, detail };

const asFault = (code: ProblemCode): RefusalCode => (code === "not_ready" ? "internal_error" : code);

/** The problem document of a refusal. */
export function problemOf(request: FailedRequest, refusal: Refusal): Reply {
  const { code, message, errors, limit, cursor, retryAfterMs } = refusal;
  const own = refusal instanceof HttpRefusal ? refusal : undefined;
  const headers = {
    ...(retryAfterMs !== undefined && { "retry-after": wholeSeconds(retryAfterMs) }),
    ...(cursor !== undefined && { "next-cursor": cursor }),
    ...own?.headers,
  };
  const members = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }), ...own?.members };
  return problem(request, code, message, { errors, headers, members });
}

/** The problem document of a request whose path no route may take; undefined if routes may take it. */
export function refusedPath(request: FailedRequest & { readonly pathFault: PathFault | undefined }): Reply | undefined {
  return request.pathFault && problem(request, request.pathFault.code, request.pathFault.detail);
}

const wholeSeconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));
