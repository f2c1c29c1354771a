import type { ProblemCode } from "../problem.ts";
import type { ProblemAdvice } from "./advice.ts";

/** Advice on requests that the caller may not make, and on records that are missing or in the wrong state. */
export const RECORD_ADVICE = {
  unauthorized: {
    means:
      "The token is missing, malformed, unknown, expired or revoked; or the stream ticket is used, expired or for another call.",
    fix: "Send the header Authorization: Bearer <ACCESS_TOKEN>. `ringport token create` makes a new token. A stream ticket is valid once, within 60 s: request a new one.",
    example: "send your access token in the header Authorization: Bearer <ACCESS_TOKEN>",
  },
  insufficient_scope: {
    means:
      "The token has some of the scopes read, call and admin, and this request needs another one. The detail names it.",
    fix: "Use a token with that scope: ringport token create --scopes read,call makes one.",
    example: 'this request needs a token with the scope "call"; this one has: read',
  },
  demo_token_restricted: {
    means:
      "A demo token belongs to one instance. It can call only from that instance, and cannot create or delete any.",
    fix: "Use the token's own instance, or a token that is not a demo token.",
    example: "this demo token can call from its own instance only",
  },
  destination_not_allowed: {
    means:
      "The token, the server or the trunk may not call this number: its country is not on the list, or it is an emergency number or a premium-rate number.",
    fix: "Call another number. For the operator: the detail names the rule; ringport token create --allow makes a token with other prefixes, and a trunk's rule is in its configuration.",
    example: "this token may not call +12025550100, only numbers that begin with +49, +43",
  },
  caller_id_not_allowed: {
    means:
      "The network does not offer the caller that the call or its instance names, or it lets no call choose its caller.",
    fix: "Choose a number that the detail names, or omit from and callerId. For the operator: a trunk's callerIds option lists its numbers.",
    example: 'calls over "sip/acme" may not come from +12025550199; allowed: +12025550123, +1415555*',
  },
  instance_not_found: {
    means: "The instance does not exist, is deleted, or belongs to another user.",
    fix: "Check the id and the token. GET /v1/instances lists your instances.",
    example: 'there is no instance "inst_01k7zq0f8vf1c9m2x4s6t8w0ya"',
  },
  call_not_found: {
    means:
      "The call does not exist, belongs to another user, or is already over when you end it. After a POST with an Idempotency-Key: the call that the key created was deleted.",
    fix: "Check the id and the token. GET /v1/calls lists your calls. Use a new key to place another call.",
    example: 'there is no call "call_01k7zq3n5de7h9k1m3p5r7t9vb"',
  },
  voice_not_found: {
    means: "This voice is not available here. The detail names the available voices of the language.",
    fix: "Choose a voice from GET /v1/voices, or install the engine that the detail names.",
    example: "voice en-GB-7 is not available; to fix it, choose a voice for en-GB: en-GB-1",
  },
  recording_not_found: {
    means:
      "There is no such recording of this call: it was not requested, nobody picked up, or the recording was deleted.",
    fix: 'Create the call with "recording": true. Its outcome and its timeline show what happened to the recording.',
    example: "nothing of that name was kept of this call",
  },
  webhook_not_found: {
    means: "The webhook does not exist, was deleted, or belongs to another user.",
    fix: "Check the id and the token. GET /v1/webhooks lists your webhooks.",
    example: 'there is no webhook "hook_01k7zq5r9te2f4h6k8n0q2s4vw"',
  },
  consent_not_found: {
    means: "Nobody has recorded whether this number may be called, or it was recorded by another user.",
    fix: "Check the number and the token. PUT /v1/consents/:phone records it, GET /v1/consents lists what is recorded.",
    example: "no consent of +12025550100 is recorded",
  },
  link_page_not_found: {
    means:
      "The address of the link page is incomplete, was made by a server with another secret, or its instance is deleted.",
    fix: "Use the whole url of POST /v1/instances/{instanceId}/link-page.",
    example: "there is no such link page; its address may be incomplete",
  },
  link_page_expired: {
    means: "A link page works for an hour.",
    fix: "POST /v1/instances/{instanceId}/link-page makes a new one.",
    example: "this page has expired; ask whoever sent it for a new address",
  },
  log_reset: {
    means:
      "The server's database was put back to an earlier state, from a copy or by a failover to a replica that lagged behind. " +
      "The last event that the cursor stands for is no longer in the log, so you may have seen events that are gone, and " +
      "others are new.",
    fix:
      "Continue from the cursor in this response (also in the header Next-Cursor), and skip events whose ids you have seen. " +
      "Read calls that you took for finished again.",
    example:
      "the database was put back to an earlier state, and the event that your cursor stands for is no longer there; continue " +
      "from the cursor bG9nXzQyXzAxazd6cTd0MXZnNGg2azhuMHEyczR2Nnh6 and skip the events whose ids you have seen",
  },
  delivery_not_found: {
    means: "The webhook has no such delivery, or the server deleted it because of its age.",
    fix: "Check both ids. GET /v1/webhooks/:webhookId/deliveries lists what can be replayed.",
    example: 'the webhook has no delivery "dlv_01k7zq7t1vg4h6k8n0q2s4v6xz"',
  },
  webhook_quota: {
    means: "The user has as many webhooks as this server allows.",
    fix: "Delete a webhook first. The operator of the server can raise the limit.",
    example: "you have 20 webhooks, and this server allows 20; delete one first",
  },
  consent_quota: {
    means: "The user has recorded consents of as many numbers as this server allows. Replacing one is always possible.",
    fix: "Delete consents that are not needed first. The operator of the server can raise the limit.",
    example: "you have 100000 consents, and this server allows 100000; delete one first",
  },
  delivery_quota: {
    means:
      "As many tests and replays of this webhook as it may have wait for their delivery. Deliveries of events have no such limit.",
    fix: "Repair the endpoint, or wait until it has accepted some of them.",
    example:
      "1000 tests and replays of this webhook wait for their delivery, and no more are accepted; wait for some of them",
  },
  webhook_disabled: {
    means: "The webhook is disabled: on request, because its endpoint returned 410, or after it failed for days.",
    fix: "Repair the endpoint, then send PATCH /v1/webhooks/:webhookId with enabled: true.",
    example: "the webhook is disabled; enable it first",
  },
  pairing_code_unsupported: {
    means: "The network of this instance has no codes that are typed on a phone.",
    fix: "Scan the QR code of GET /v1/instances/:instanceId/configure instead.",
    example: 'the network "simulator" has no pairing codes; scan the QR code instead',
  },
  instance_already_linked: {
    means: "A phone number is already linked to the instance, so there is no QR code.",
    fix: "You can place calls now. For another number create another instance, or unlink this one first.",
    example: 'instance "inst_01k7zq0f8vf1c9m2x4s6t8w0ya" is linked already; it needs no QR code',
  },
  linked_by_operator: {
    means:
      "The network, such as a SIP trunk, has its numbers from the configuration of the server. Nobody scanned a code.",
    fix: "Delete the instance, or ask the operator to change the network.",
    example: '"sip/office" links its numbers by itself, so none can be unlinked; delete the instance instead',
  },
  storage_quota: {
    means:
      "The server limits what each user stores: calls with their texts, events, transcripts and recordings, and instances, deleted ones too. " +
      "Calls of demo tokens have a smaller limit for each instance.",
    fix: "Ask the operator to raise the limit, or to delete old calls after a time.",
    example: "the demo tokens of this instance have stored 12.0 MiB, and this server allows 12.0 MiB",
  },
  instance_quota: {
    means: "The server limits them per user. Deleted instances do not count.",
    fix: "Delete an unused instance, or ask the operator to raise the limit.",
    example: "you have 1000 instances, and this server allows 1000; delete one first",
  },
  queue_full: {
    means: "As many calls wait as it takes. Only servers with a fifo queue return this.",
    fix: "Wait until a call is over, use another instance, or ask the operator to raise the depth of the queue.",
    example: 'instance "inst_01k7zq0f8vf1c9m2x4s6t8w0ya" has a full queue; wait until one of its calls ends',
  },
  idempotency_key_in_progress: {
    means: "The earlier one has not been answered yet.",
    fix: "Send the same request again after Retry-After.",
    example: 'a request with the key "order-7" is still running',
  },
  idempotency_key_reused: {
    means: "An earlier request used this key with another body. Each key belongs to one request.",
    fix: "Use a new key for a new request.",
    example: 'the key "order-7" was used with another request body; use a new key',
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
  too_many_listeners: {
    means: "A live call has at most 4 listeners.",
    fix: "Close one of the other connections to GET /v1/calls/:callId/listen first.",
    example: "4 listeners follow this call already; close one of them",
  },
  call_ended: {
    means:
      "The call is over, or the client of its stream has hung up, so there is nothing left to stream or to listen to.",
    fix: "Create a new call. ?expand=outcome shows how the old one ended.",
    example: "the call is COMPLETED",
  },
  recording_not_ready: {
    means: "What the callee of a simulated call heard is available only after the call.",
    fix: "Try again after Retry-After.",
    example: "the call is still running; try again when it has ended",
  },
  daily_call_limit: {
    means:
      "The token has reached its limit of calls in 24 hours, with the transfers of its agents; the member `limit` is that number. " +
      "A response with an existing call (200) and a repeated request with the same idempotency key do not count.",
    fix: "Wait for the time in Retry-After. For the operator: make a token with a higher --max-calls-per-day.",
    example:
      "this token has created 200 calls in the last 24 hours, transfers included, which is its limit; the next one is possible at 2026-01-31T12:00:00.000Z",
  },
} as const satisfies Partial<Record<ProblemCode, ProblemAdvice>>;
