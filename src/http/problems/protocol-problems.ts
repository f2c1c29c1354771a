import type { ProblemCode, ProblemKind } from "./problem-kind.ts";

/** Requests that violate HTTP, or that exceed limits: 405, 408 and 413 to 429. */
export const PROTOCOL_PROBLEMS = {
  method_not_allowed: {
    status: 405,
    title: "The method is not allowed",
    meaning: "The path exists, but not with this method.",
    fix: "Use a method from the Allow header.",
    example: "allowed methods: GET, HEAD, POST, OPTIONS",
  },
  request_timeout: {
    status: 408,
    title: "The body took too long",
    // The rest of the body may never arrive, so the connection cannot be reused.
    headers: { connection: "close" },
    meaning: "The body stalled for 30 s, or was not complete within 2 minutes.",
    fix: "Send the request again over a better connection. For audio, MP3 is about ten times smaller than WAV.",
    example: "no bytes of the body arrived within 30 s",
  },
  body_too_large: {
    status: 413,
    title: "The body is too large",
    // The rest of the body stays unread, so the connection cannot be reused.
    headers: { connection: "close" },
    meaning: "The body is larger than this server accepts. The member `limit` is the maximum, in bytes.",
    fix: "Send less. For audio, MP3 is about ten times smaller than WAV.",
    example: "the body is larger than 16777216 bytes",
  },
  unsupported_media_type: {
    status: 415,
    title: "The body has an unsupported type",
    headers: { accept: "application/json" },
    meaning:
      "The Content-Type is not JSON in UTF-8, or, for a file that is to be stored, not audio; or the body is compressed.",
    fix: "Send the Content-Type that the detail asks for, and no Content-Encoding.",
    example: 'Content-Type is "text/plain": it must be application/json, or omitted',
  },
  range_not_satisfiable: {
    status: 416,
    title: "The range is not satisfiable",
    meaning: "The Range begins after the end of the file.",
    fix: "Content-Range holds the size of the file; request a part within it, or omit the header.",
    example: "the file has 640044 bytes",
  },
  idempotency_key_reused: {
    status: 422,
    title: "The idempotency key was used with another request",
    meaning: "An earlier request used this key with another body. Each key belongs to one request.",
    fix: "Use a new key for a new request.",
    example: 'the key "order-7" was used with another request body; use a new key',
  },
  upgrade_required: {
    status: 426,
    title: "The route requires a WebSocket",
    headers: { upgrade: "websocket", connection: "upgrade" },
    meaning: "The request for a stream or a phone had no WebSocket handshake.",
    fix: "Connect with a WebSocket client.",
    example: "the request is not a WebSocket handshake: connect with a WebSocket client",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    meaning: "The token made more requests than this server allows.",
    fix: "Wait for the time in Retry-After. RateLimit shows the remaining requests.",
    example: "too many requests; try again in 2 s",
  },
  daily_call_limit: {
    status: 429,
    title: "The token is at its daily limit of calls",
    meaning:
      "The token has reached its limit of calls in 24 hours, with the transfers of its agents; the member `limit` is that number. " +
      "A response with an existing call (200) and a repeated request with the same idempotency key do not count.",
    fix: "Wait for the time in Retry-After. For the operator: create a token with a higher --max-calls-per-day.",
    example:
      "this token has created 200 calls in the last 24 hours, transfers included, which is its limit; the next call is possible at 2026-01-31T12:00:00.000Z",
  },
} as const satisfies Partial<Record<ProblemCode, ProblemKind>>;
