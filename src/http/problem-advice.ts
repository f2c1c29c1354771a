import type { ProblemCode } from "./problem.ts";

/** What a person needs to know about a code, beyond its title. */
export interface ProblemAdvice {
  /** When it comes. */
  readonly means: string;
  /** What to do about it. */
  readonly fix: string;
  /** A `detail` as the server writes it. */
  readonly example: string;
}

/** The one table that explains the codes: `/docs/errors`, `docs/errors.md` and the examples of `/openapi.json` are made from it. */
export const PROBLEM_ADVICE: Readonly<Record<ProblemCode, ProblemAdvice>> = {
  invalid_request: {
    means: "The body or the query has one or more faults. Every one of them is listed under errors.",
    fix: "Read errors: each entry names a field or a parameter and says what it must be.",
    example: "/target: this field is required (and 1 more, see errors)",
  },
  invalid_json: {
    means:
      "The body is missing, is not JSON, is not UTF-8, or is JSON but not an object; or it is nested deeper or has more keys " +
      "and values than any request needs.",
    fix: "Send one JSON object. Where a shell builds it, look at the quotes.",
    example: "the request has no body; send a JSON object",
  },
  required: {
    means: "A fault inside errors: a field that this request needs is not there.",
    fix: "Send the field that the pointer names.",
    example: "this field is required",
  },
  type_invalid: {
    means: "A fault inside errors: a field is of another JSON type than it must be.",
    fix: "Send the type that the detail names.",
    example: "must be a string, not 7",
  },
  value_invalid: {
    means: "A fault inside errors: a value is of the right type, but not one of the allowed ones.",
    fix: "Take one of the values that the detail names.",
    example: "must be one of FIXED_TTS, FIXED_AUDIO, DYNAMIC_STREAM, DYNAMIC_AGENT",
  },
  too_short: {
    means: "A fault inside errors: a text or a list is empty.",
    fix: "Send at least one character, or one item.",
    example: "the name must not be empty",
  },
  too_long: {
    means: "A fault inside errors: a text, a list or the metadata is larger than this server allows.",
    fix: "Send less. The operator of the server can raise the limit.",
    example: "the text has 5000 characters, at most 4096 are allowed",
  },
  unknown_field: {
    means: "A fault inside errors: the request asked for strict handling, and nobody knows this field.",
    fix: "Look at the spelling of the field, or leave the header Prefer: handling=strict out.",
    example: "there is no such field",
  },
  phone_number_invalid: {
    means: "The number to call is not in E.164 form. Ringport never guesses a country code.",
    fix: "Write + and 7 to 15 digits, country code first, without spaces: +12025550100.",
    example: "/target/phoneNumber: must be an E.164 number: + and 7 to 15 digits, such as +12025550100",
  },
  voice_invalid: {
    means: "The voice is not written as a voice is.",
    fix: "Write a language-region tag and a number, such as en-US-1. GET /v1/voices lists what there is.",
    example: "/tts/voiceId: must be a language-region tag and a number, such as en-US-1 or pt-BR-1",
  },
  voice_unavailable: {
    means: "The voice is well written, but this server cannot speak with it. It never takes another one instead.",
    fix: "Take a voice from GET /v1/voices, or install the engine that the detail names.",
    example: "/tts/voiceId: voice en-GB-7 is not available; to fix it, choose a voice for en-GB: en-GB-1",
  },
  text_unspeakable: {
    means: "The text has no letter and no digit.",
    fix: "Send words.",
    example: "/tts/text: the text has no letter and no digit, so there is nothing to speak",
  },
  audio_unsupported: {
    means: "The file is not Base64, is not MP3 or WAV, is empty, damaged, too large or too long.",
    fix: "Send an MP3 or WAV file of at most 10 MiB and 10 minutes, as Base64 without line breaks.",
    example: "/audio/audioBase64: is not Base64 (RFC 4648, padded, without line breaks)",
  },
  provider_unknown: {
    means: "The instance asks for a telephony that this server does not have, or that its user may not use.",
    fix: "Leave provider out, or take one that the detail names. For the operator: a trunk's users say who may use it.",
    example: '/provider: there is no provider "fax" on this server; it has: simulator',
  },
  idempotency_key_invalid: {
    means: "The Idempotency-Key cannot be used.",
    fix: "Send 1 to 255 visible ASCII characters, such as a UUID.",
    example: "the Idempotency-Key must be 1 to 255 visible ASCII characters",
  },
  unauthorized: {
    means:
      "There is no token, or it is malformed, unknown, expired or revoked; or a stream ticket was used before, has expired or is of another call.",
    fix: "Send the header Authorization: Bearer <ACCESS_TOKEN>. `ringport token create` makes a new token. A stream ticket is good once, within 60 s: ask for a new one.",
    example: "send your access token in the header Authorization: Bearer <ACCESS_TOKEN>",
  },
  demo_token_restricted: {
    means:
      "A demo token belongs to one instance. It calls from that one only, and neither makes nor deletes instances.",
    fix: "Use the token's own instance, or a token that is not a demo token.",
    example: "this demo token can call from its own instance only",
  },
  destination_not_allowed: {
    means:
      "The number is outside of what the token, the server or the trunk may call: a country that is not on its list, an emergency number, a premium-rate number.",
    fix: "Call another number. For the operator: the detail names the rule; a token with other prefixes is made with ringport token create --allow, a trunk's rule is in its configuration.",
    example: "this token may not call +12025550100, only numbers that begin with +49, +43",
  },
  caller_id_not_allowed: {
    means:
      "The caller that the call or its instance names is not one of those that the network offers, or the network lets no call choose its caller.",
    fix: "Take a number that the detail names, or leave from and callerId out. For the operator: a trunk's numbers are its callerIds.",
    example: 'calls over "sip/acme" may not come from +12025550199; allowed: +12025550123, +1415555*',
  },
  not_found: {
    means: "There is nothing at this address.",
    fix: "Look at the path, and at the base path of the server. /openapi.json lists every address.",
    example: "there is nothing at this address",
  },
  instance_not_found: {
    means: "There is no such instance, it is deleted, or it belongs to somebody else.",
    fix: "Look at the id, and at whose token you use. GET /v1/instances lists yours.",
    example: 'there is no instance "inst_01k7zq0f8vf1c9m2x4s6t8w0ya"',
  },
  call_not_found: {
    means: "There is no such call, it belongs to somebody else, or you end a call that is over.",
    fix: "Look at the id, and at whose token you use. GET /v1/calls lists yours.",
    example: 'there is no call "call_01k7zq3n5de7h9k1m3p5r7t9vb"',
  },
  voice_not_found: {
    means: "Nobody speaks with this voice here. The detail names the voices of that language.",
    fix: "Take a voice from GET /v1/voices, or install the engine that the detail names.",
    example: "voice en-GB-7 is not available; to fix it, choose a voice for en-GB: en-GB-1",
  },
  recording_not_found: {
    means:
      "Nothing of that kind was kept of this call: it was not to be recorded, nobody answered, or the recording was deleted.",
    fix: 'A call is recorded where it was created with "recording": true. Its outcome and its timeline say what became of it.',
    example: "nothing of that name was kept of this call",
  },
  method_not_allowed: {
    means: "The address is right, the method is not.",
    fix: "Take a method from the header Allow.",
    example: "this address answers GET, HEAD, POST, OPTIONS",
  },
  request_timeout: {
    means: "The body stalled for 30 s, or was not complete within 2 minutes.",
    fix: "Send the request again over a better line. For audio, MP3 is about ten times smaller than WAV.",
    example: "the body brought no bytes within 30 s",
  },
  instance_already_linked: {
    means: "A phone number is linked to the instance, so there is no QR code to show.",
    fix: "Nothing: place calls. For another number create another instance.",
    example: 'instance "inst_01k7zq0f8vf1c9m2x4s6t8w0ya" is linked already; it needs no QR code',
  },
  instance_quota: {
    means: "The user has as many instances as this server allows one user. Deleted ones do not count.",
    fix: "Delete an instance that you do not need, or have the operator raise the limit.",
    example: "you have 1000 instances, and this server allows 1000; delete one first",
  },
  queue_full: {
    means: "The instance holds as many calls as its queue takes. It comes only from servers with a fifo queue.",
    fix: "Wait until a call is over, use another instance, or have the operator raise the depth of the queue.",
    example: 'instance "inst_01k7zq0f8vf1c9m2x4s6t8w0ya" already has as many calls as its queue takes',
  },
  idempotency_key_in_progress: {
    means: "A request with this key has not been answered yet.",
    fix: "Send the same request again after Retry-After.",
    example: 'a request with the key "order-7" is still running',
  },
  not_a_stream_call: {
    means: "Only a DYNAMIC_STREAM call has a stream.",
    fix: "Open the stream of a call that was created with the type DYNAMIC_STREAM.",
    example: "the call is a FIXED_TTS call, not a DYNAMIC_STREAM call",
  },
  stream_already_attached: {
    means: "Another client is connected to the stream of this call.",
    fix: "Close the other connection first.",
    example: "a client is attached to this stream already",
  },
  call_ended: {
    means: "The call is over, or its stream's client has hung up, so there is nothing to stream any more.",
    fix: "Create a new call. With ?expand=outcome the old one tells how it ended.",
    example: "the call is COMPLETED",
  },
  range_not_satisfiable: {
    means: "The Range begins behind the end of the file.",
    fix: "Content-Range says how many bytes there are; ask for a part of those, or leave the header out.",
    example: "the recording has 640044 bytes",
  },
  recording_not_ready: {
    means: "What the callee of a simulated call heard is there when the call is over, not before.",
    fix: "Ask again after Retry-After.",
    example: "The recording is there once the call has ended.",
  },
  body_too_large: {
    means: "The body has more bytes than the server reads. The member limit says how many it reads.",
    fix: "Send less. For audio, MP3 is about ten times smaller than WAV.",
    example: "the body is larger than 16777216 bytes",
  },
  unsupported_media_type: {
    means: "The Content-Type is not JSON in UTF-8, or the body is compressed.",
    fix: "Send Content-Type: application/json and no Content-Encoding.",
    example: "the Content-Type must be application/json, or be left out",
  },
  idempotency_key_reused: {
    means: "The key came with another body before. One key stands for one request.",
    fix: "Take a new key for a new request.",
    example: 'the key "order-7" was used with another request body; take a new key',
  },
  upgrade_required: {
    means: "The address of a stream was asked for without a WebSocket handshake.",
    fix: "Connect with a WebSocket client.",
    example: "connect with a WebSocket client; this request asked for no upgrade",
  },
  rate_limited: {
    means: "The token made more requests than this server allows.",
    fix: "Wait as long as Retry-After says. RateLimit tells what is left.",
    example: "too many requests; try again in 2 s",
  },
  daily_call_limit: {
    means:
      "The token has reached its limit of calls in 24 hours; the member `limit` is that number. " +
      "A response with an existing call (200) and a repeated request with the same idempotency key do not count.",
    fix: "Wait as long as Retry-After says. For the operator: make a token with a higher --max-calls-per-day.",
    example:
      "this token has created 200 calls in the last 24 hours, which is its limit; the next one is possible at 2026-01-31T12:00:00.000Z",
  },
  internal_error: {
    means: "Something went wrong that should not have. The server's log has it under the request id.",
    fix: "Try again. If it stays, report it with the request_id.",
    example: "the server made a mistake; the request id leads to it in the server's log",
  },
  stream_not_available: {
    means: "Live streams are a preview, and switched off on this server.",
    fix: "For the operator: set RINGPORT_STREAM_PREVIEW=1, or streamPreview where Ringport is embedded.",
    example: "live audio streams are a preview and switched off here; the server's operator switches them on",
  },
  qr_unavailable: {
    means: "The network gave no QR code in time, or links by itself and could not yet.",
    fix: "Ask again after Retry-After. The detail says what the line reports.",
    example: "no QR code came within 10000 ms: the network does not answer",
  },
  speech_unavailable: {
    means: "The engine behind the voice failed, or did not finish a sentence in time.",
    fix: "Ask again after Retry-After. For the operator: the server's log says why, beside the id of the voice.",
    example: "voice en-US-1 cannot be heard at the moment; try again",
  },
  storage_unavailable: {
    means:
      "The database is full, locked or not to be reached, or another server owns it. Nothing was changed, except that a " +
      "deletion or a hang-up that has begun goes on by itself, unless the server restarts or loses the database before: then only a repeated request ends it.",
    fix: "Ask again after Retry-After. For the operator: look at the disk and at the database.",
    example: "the storage is not available at the moment; try again",
  },
  server_busy: {
    means:
      "One of these is at its limit: the bytes of your request bodies, or those of all users; your audio files that are " +
      "being checked; your voice samples that are being spoken; unused stream tickets.",
    fix:
      "Ask again after Retry-After, and send fewer large requests at once. A ticket that is not used waits for a minute: ask " +
      "for one just before you connect.",
    example: "your requests are at their limit of 67108864 bytes of request bodies; try again",
  },
  stopping: {
    means: "The server is shutting down. It takes no new work, and live calls may end.",
    fix: "Ask again after Retry-After: the next server will answer.",
    example: "the server is stopping or has stopped",
  },
  not_ready: {
    means: "The server cannot take requests yet, or not at the moment.",
    fix: "Ask again after Retry-After. For the operator: the log says why.",
    example: "the storage does not answer, or the server is stopping",
  },
};
