import { CodedError } from "../base/error.ts";
import type { ProblemCode } from "../http/problems/problem-kind.ts";
import type { Fault, Problem } from "../http/response-types.ts";

/**
 * Reason why a request or a stream failed: the `code` of the server's problem document, or one of the client's own
 * codes. `network_error`: there was no response. `timeout`: there was no response in time. `unexpected_answer`: the
 * response is not from Ringport. `another_call_active`: see `AnotherCallActive`. `stream_lost`: the connection was lost
 * and could not be restored in time. `stream_overflow`: too much audio was written.
 */
export type ClientErrorCode =
  | ProblemCode
  | "network_error"
  | "timeout"
  | "unexpected_answer"
  | "another_call_active"
  | "stream_lost"
  | "stream_overflow";

/** A request without its query, token and body. */
export interface RequestLine {
  readonly method: string;
  /** Path of the whole URL, base path included. */
  readonly path: string;
}

interface Details {
  readonly request?: RequestLine | undefined;
  readonly status?: number | undefined;
  readonly errors?: readonly Fault[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cursor?: string | undefined;
  /** A printable error, with neither token nor body. */
  readonly cause?: unknown;
}

/**
 * Every method of the client throws this if a request fails permanently; programs should switch on its `code`. It is
 * safe to print and log: neither it nor its causes contain the token, the request body or the response body.
 */
export class RingportError extends CodedError {
  override readonly name = "RingportError";
  readonly code: ClientErrorCode;
  /** Method of the request, such as `POST`; null for a stream error. */
  readonly method: string | null;
  /** Path of the request, base path included, without the query; null for a stream error. */
  readonly path: string | null;
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** The cause and the fix, human-readable; the same as `message`. */
  readonly detail: string;
  /** With 400, every fault of the input; otherwise empty. */
  readonly errors: readonly Fault[];
  /** The id of the request in the server's log; null if there was no response. */
  readonly requestId: string | null;
  /** Seconds to wait before another try, counted from the response; null if the server did not send it. */
  readonly retryAfter: number | null;
  /** With `log_reset`, the cursor to continue from; otherwise null. */
  readonly cursor: string | null;

  constructor(code: ClientErrorCode, detail: string, details: Details = {}) {
    super(detail, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.method = details.request?.method ?? null;
    this.path = details.request?.path ?? null;
    this.status = details.status ?? 0;
    this.detail = detail;
    this.errors = details.errors ?? [];
    this.requestId = details.requestId ?? null;
    this.retryAfter = details.retryAfter ?? null;
    this.cursor = details.cursor ?? null;
  }
}

/**
 * The error of a failed response.
 * @param body the parsed body, of any shape
 * @param fault fault of a response that is not a problem document
 */
export function errorOfResponse(
  { status, headers }: Response,
  request: RequestLine,
  body: unknown,
  fault = "without a problem document",
): RingportError {
  const common = { status, request, retryAfter: retryAfterOf(headers) };
  const requestId = headers.get("x-request-id") ?? undefined;
  if (isProblem(body)) {
    const { code, detail, errors, request_id } = body;
    const cursor = headers.get("next-cursor") ?? undefined;
    const details = { ...common, errors, cursor, requestId: request_id ?? requestId };
    return new RingportError(code as ProblemCode, detail, details);
  }
  return new RingportError("unexpected_answer", `the server returned ${status} ${fault}`, { ...common, requestId });
}

/** The Retry-After header (RFC 9110 §10.2.3) in seconds; undefined if it is missing or invalid. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

function isProblem(body: unknown): body is Problem {
  if (typeof body !== "object" || body === null) return false;
  const { code, detail } = body as Partial<Record<string, unknown>>;
  return typeof code === "string" && typeof detail === "string";
}
