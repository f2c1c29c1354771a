import { type ProblemCode, type ProblemKind, RETRY_IN_1_S, RETRY_IN_5_S } from "./problem-kind.ts";

/** Servers that cannot serve a request: 500 to 503. */
export const SERVER_PROBLEMS = {
  internal_error: {
    status: 500,
    title: "Internal server error",
    meaning: "An unexpected error. The server's log has it under the request id.",
    fix: "Try again. If the error persists, report it with the request_id.",
    example: "an unexpected error; the server's log has it under the request id",
  },
  stream_not_available: {
    status: 501,
    title: "The stream is not available",
    meaning: "Live streams are a preview, and switched off on this server.",
    fix: "For the operator: set RINGPORT_STREAM_PREVIEW=1, or streamPreview if Ringport is embedded.",
    example: "live audio streams are a preview and switched off here; the server's operator switches them on",
  },
  pairing_code_unavailable: {
    status: 503,
    title: "No pairing code is available at the moment",
    headers: RETRY_IN_5_S,
    meaning: "The network provided no pairing code in time, or refused one for this number.",
    fix: "Check the number, and try again after Retry-After. The detail holds the reason.",
    example: "no pairing code came within 10000 ms",
  },
  qr_unavailable: {
    status: 503,
    title: "No QR code is available at the moment",
    headers: RETRY_IN_5_S,
    meaning: "The network provided no QR code in time, or links automatically and has not done so yet.",
    fix: "Try again after Retry-After. The detail holds the state of the line.",
    example: "no QR code came within 10000 ms: the network does not respond",
  },
  speech_unavailable: {
    status: 503,
    title: "The voice is not available at the moment",
    headers: RETRY_IN_5_S,
    meaning: "The voice's engine failed, or did not finish a sentence in time.",
    fix: "Try again after Retry-After. For the operator: the server's log has the cause, with the id of the voice.",
    example: "voice en-US-1 is not available at the moment; try again",
  },
  storage_unavailable: {
    status: 503,
    title: "The storage is not available",
    headers: RETRY_IN_1_S,
    meaning:
      "The database is full, locked or unreachable, or another server owns it. Nothing was changed, with one exception: a " +
      "deletion or a hang-up that has begun continues automatically, unless the server restarts or loses the database first; then a repeated request completes it.",
    fix: "Try again after Retry-After. For the operator: check the disk and the database.",
    example: "the storage is not available at the moment; try again",
  },
  server_busy: {
    status: 503,
    title: "The server is busy",
    headers: RETRY_IN_5_S,
    meaning:
      "One of these is at its limit: the bytes of your request bodies, or of all users' request bodies; your audio files that " +
      "are being checked; your voice samples that are being spoken; your requests for linking codes; the visitors of a link page; " +
      "your event streams or WebSockets; unused stream tickets.",
    fix:
      "Try again after Retry-After, and send fewer such requests at once. An unused ticket counts towards the limit for a minute: request a " +
      "ticket just before you connect.",
    example: "your requests are at their limit of 67108864 bytes of request bodies; try again",
  },
  stopping: {
    status: 503,
    title: "The server is stopping",
    headers: RETRY_IN_5_S,
    meaning: "The server is shutting down. It accepts no new work, and live calls may end.",
    fix: "Try again after Retry-After, when the server is up again.",
    example: "the server is stopping or has stopped",
  },
  not_ready: {
    status: 503,
    title: "The server is not ready",
    headers: RETRY_IN_1_S,
    meaning: "The server cannot take requests yet, or not at the moment.",
    fix: "Try again after Retry-After. For the operator: the log has the cause.",
    example: "the storage does not respond, or the server is stopping",
  },
} as const satisfies Partial<Record<ProblemCode, ProblemKind>>;
