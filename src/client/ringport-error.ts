import type { Fault, Problem } from "../http/answers.ts";
import type { ProblemCode } from "../http/problem.ts";

/**
 * Why a request or a stream failed: the `code` of the server's problem document, or one that only the client can say.
 * `network_error`: no answer came. `timeout`: none came in time. `unexpected_answer`: whatever answered is no Ringport.
 * `stream_lost`: the connection broke and did not come back in time. `stream_overflow`: more audio was written than waits.
 */
export type ClientErrorCode =
  | ProblemCode
  | "network_error"
  | "timeout"
  | "unexpected_answer"
  | "stream_lost"
  | "stream_overflow";

/** A request without its query, token and body. */
export interface RequestLine {
  readonly method: string;
  /** Of the whole URL, base path included. */
  readonly path: string;
}

interface Details {
  readonly request?: RequestLine | undefined;
  readonly status?: number | undefined;
  readonly errors?: readonly Fault[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  /** Printable: it holds neither token nor body. */
  readonly cause?: unknown;
}

/**
 * Thrown by every method of the client when a request fails for good; programs decide by its `code`. It may be printed
 * and logged: neither it nor its causes hold the token, or the body of the request or of the response.
 */
export class RingportError extends Error {
  override readonly name = "RingportError";
  readonly code: ClientErrorCode;
  /** Of the request, such as `POST`; null for a fault of a stream. */
  readonly method: string | null;
  /** Of the request, base path included, without the query; null for a fault of a stream. */
  readonly path: string | null;
  /** The HTTP status; 0 where no answer came. */
  readonly status: number;
  /** A sentence that names what was wrong; the same as `message`. */
  readonly detail: string;
  /** Every fault of the input, with 400; else empty. */
  readonly errors: readonly Fault[];
  /** What the server's log calls the request; null where no answer came. */
  readonly requestId: string | null;
  /** When to try again, in seconds from the answer; null where the server did not say. */
  readonly retryAfter: number | null;

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
  }
}

/**
 * The error that an answer stands for.
 * @param body the parsed body, whatever it is
 * @param fault what is wrong with an answer that is no problem document
 */
export function errorOfAnswer(
  { status, headers }: Response,
  request: RequestLine,
  body: unknown,
  fault = "without a problem document",
): RingportError {
  const common = { status, request, retryAfter: retryAfterOf(headers) };
  const requestId = headers.get("x-request-id") ?? undefined;
  if (isProblem(body)) {
    const { code, detail, errors, request_id } = body;
    return new RingportError(code as ProblemCode, detail, { ...common, errors, requestId: request_id ?? requestId });
  }
  return new RingportError("unexpected_answer", `the server answered ${status} ${fault}`, { ...common, requestId });
}

/** The Retry-After header (RFC 9110 §10.2.3) in seconds; undefined where there is none that can be read. */
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
