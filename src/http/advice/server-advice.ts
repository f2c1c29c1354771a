import type { ProblemCode } from "../problem.ts";
import type { ProblemAdvice } from "./advice.ts";

/** Advice on the HTTP protocol, and on servers that cannot serve a request. */
export const SERVER_ADVICE = {
  not_found: {
    means: "No route of this server has this path.",
    fix: "Check the path, and the base path of the server. /openapi.json lists every route.",
    example: "no such route: GET /v1/call (see /docs)",
  },
  method_not_allowed: {
    means: "The path exists, but not with this method.",
    fix: "Use a method from the header Allow.",
    example: "allowed methods: GET, HEAD, POST, OPTIONS",
  },
  request_timeout: {
    means: "The body stalled for 30 s, or was not complete within 2 minutes.",
    fix: "Send the request again over a better connection. For audio, MP3 is about ten times smaller than WAV.",
    example: "the body sent no bytes within 30 s",
  },
  body_too_large: {
    means: "The body is larger than this server accepts. The member limit is the maximum, in bytes.",
    fix: "Send less. For audio, MP3 is about ten times smaller than WAV.",
    example: "the body is larger than 16777216 bytes",
  },
  unsupported_media_type: {
    means: "The Content-Type is not JSON in UTF-8, or the body is compressed.",
    fix: "Send Content-Type: application/json and no Content-Encoding.",
    example: 'Content-Type is "text/plain": it must be application/json, or omitted',
  },
  range_not_satisfiable: {
    means: "The Range begins after the end of the file.",
    fix: "Content-Range holds the size of the file; request a part within it, or omit the header.",
    example: "the file has 640044 bytes",
  },
  upgrade_required: {
    means: "The request for a stream or a phone had no WebSocket handshake.",
    fix: "Connect with a WebSocket client.",
    example: "the request is not a WebSocket handshake: connect with a WebSocket client",
  },
  rate_limited: {
    means: "The token made more requests than this server allows.",
    fix: "Wait for the time in Retry-After. RateLimit shows what is left.",
    example: "too many requests; try again in 2 s",
  },
  internal_error: {
    means: "An unexpected error. The server's log has it under the request id.",
    fix: "Try again. If the error persists, report it with the request_id.",
    example: "the server made a mistake; the request id leads to it in the server's log",
  },
  stream_not_available: {
    means: "Live streams are a preview, and switched off on this server.",
    fix: "For the operator: set RINGPORT_STREAM_PREVIEW=1, or streamPreview if Ringport is embedded.",
    example: "live audio streams are a preview and switched off here; the server's operator switches them on",
  },
  qr_unavailable: {
    means: "The network provided no QR code in time, or links by itself and has not done so yet.",
    fix: "Try again after Retry-After. The detail holds the state of the line.",
    example: "no QR code came within 10000 ms: the network does not answer",
  },
  pairing_code_unavailable: {
    means: "The network provided no pairing code in time, or refused one for this number.",
    fix: "Check the number, and try again after Retry-After. The detail holds the reason.",
    example: "no pairing code came within 10000 ms",
  },
  speech_unavailable: {
    means: "The voice's engine failed, or did not finish a sentence in time.",
    fix: "Try again after Retry-After. For the operator: the server's log has the cause, with the id of the voice.",
    example: "voice en-US-1 is not available at the moment; try again",
  },
  storage_unavailable: {
    means:
      "The database is full, locked or unreachable, or another server owns it. Nothing was changed, with one exception: a " +
      "deletion or a hang-up that has begun continues by itself, unless the server restarts or loses the database first; then a repeated request completes it.",
    fix: "Try again after Retry-After. For the operator: check the disk and the database.",
    example: "the storage is not available at the moment; try again",
  },
  server_busy: {
    means:
      "One of these is at its limit: the bytes of your request bodies, or of all users' request bodies; your audio files that " +
      "are being checked; your voice samples that are being spoken; your requests for linking codes; the visitors of a link page; " +
      "your event streams or WebSockets; unused stream tickets.",
    fix:
      "Try again after Retry-After, and send fewer such requests at once. An unused ticket counts for a minute: request a " +
      "ticket just before you connect.",
    example: "your requests are at their limit of 67108864 bytes of request bodies; try again",
  },
  stopping: {
    means: "The server is shutting down. It accepts no new work, and live calls may end.",
    fix: "Try again after Retry-After, when the server is up again.",
    example: "the server is stopping or has stopped",
  },
  not_ready: {
    means: "The server cannot take requests yet, or not at the moment.",
    fix: "Try again after Retry-After. For the operator: the log has the cause.",
    example: "the storage does not answer, or the server is stopping",
  },
} as const satisfies Partial<Record<ProblemCode, ProblemAdvice>>;
