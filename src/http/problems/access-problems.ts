import type { ProblemCode, ProblemKind } from "./problem-kind.ts";

/** Requests that the caller may not send, and records that are missing: 401, 403 and 404. */
export const ACCESS_PROBLEMS = {
  unauthorized: {
    status: 401,
    title: "A valid bearer token is required",
    // RFC 9110 §11.6.1: a 401 names the scheme to use.
    headers: { "www-authenticate": "Bearer" },
    meaning:
      "The token is missing, malformed, unknown, expired or revoked; or the stream ticket is used, expired or for another call.",
    fix: "Send Authorization: Bearer <ACCESS_TOKEN>. `ringport token create` makes a new token. A stream ticket is valid once, within 60 s: request a new one.",
    example: "send your access token as a header: Authorization: Bearer <ACCESS_TOKEN>",
  },
  insufficient_scope: {
    status: 403,
    title: "The token lacks the required scope",
    meaning:
      "The token has some of the scopes read, call and admin, and this request needs another one. The detail names it.",
    fix: "Use a token with that scope: ringport token create --scopes read,call makes one.",
    example: 'this request needs a token with the scope "call"; this one has: read',
  },
  demo_token_restricted: {
    status: 403,
    title: "A demo token may not do this",
    meaning:
      "A demo token belongs to one instance. It can call only from that instance, and cannot create or delete any.",
    fix: "Use the token's own instance, or a token that is not a demo token.",
    example: "this demo token can call from its own instance only",
  },
  destination_not_allowed: {
    status: 403,
    title: "This number may not be called",
    meaning:
      "The token, the server or the trunk may not call this number: its country is not on the list, or it is an emergency number or a premium-rate number.",
    fix: "Call another number. For the operator: the detail names the rule; ringport token create --allow makes a token with other prefixes, and a trunk's rule is in its configuration.",
    example: "this token may not call +12025550100, only numbers that begin with +49, +43",
  },
  caller_id_not_allowed: {
    status: 403,
    title: "Calls may not come from this number",
    meaning:
      "The network does not offer the caller that the call or its instance names, or it lets no call choose its caller.",
    fix: "Choose a number that the detail names, or omit from and callerId. For the operator: a trunk's callerIds option lists its numbers.",
    example: 'calls over "sip/acme" may not come from +12025550199; allowed: +12025550123, +1415555*',
  },
  not_found: {
    status: 404,
    title: "There is no such route",
    meaning: "No route of this server has this path.",
    fix: "Check the path, and the base path of the server. /openapi.json lists every route.",
    example: "no such route: GET /v1/call (see /docs)",
  },
  batch_not_found: {
    status: 404,
    title: "There is no such batch",
    meaning: "The batch does not exist, is deleted, or belongs to another user.",
    fix: "Check the id and the token. GET /v1/batches lists your batches.",
    example: 'there is no batch "batch_01k7zq0f8vf1c9m2x4s6t8w0ya"',
  },
  target_not_found: {
    status: 404,
    title: "The batch has no such target",
    meaning: "The batch has no target at this position, or it was removed.",
    fix: "GET /v1/batches/:batchId/targets lists the targets with their positions.",
    example: 'batch "batch_01k7zq0f8vf1c9m2x4s6t8w0ya" has no target at position 12',
  },
  instance_not_found: {
    status: 404,
    title: "There is no such instance",
    meaning: "The instance does not exist, is deleted, or belongs to another user.",
    fix: "Check the id and the token. GET /v1/instances lists your instances.",
    example: 'there is no instance "inst_01k7zq0f8vf1c9m2x4s6t8w0ya"',
  },
  call_not_found: {
    status: 404,
    title: "There is no such call",
    meaning:
      "The call does not exist, belongs to another user, or has already ended when you end it. After a POST with an Idempotency-Key: the call that the key created was deleted.",
    fix: "Check the id and the token. GET /v1/calls lists your calls. Use a new key to place another call.",
    example: 'there is no call "call_01k7zq3n5de7h9k1m3p5r7t9vb"',
  },
  voice_not_found: {
    status: 404,
    title: "There is no such voice",
    meaning: "This voice is not available here. The detail names the available voices of the language.",
    fix: "Choose a voice from GET /v1/voices, or install the engine that the detail names.",
    example: "voice en-GB-7 is not available; to fix it, choose a voice for en-GB: en-GB-1",
  },
  recording_not_found: {
    status: 404,
    title: "There is no such recording",
    meaning:
      "There is no such recording of this call: it was not requested, the call was not picked up, or the recording was deleted.",
    fix: 'Create the call with "recording": true. Its outcome and its timeline show what happened to the recording.',
    example: "this call has no file of that name",
  },
  webhook_not_found: {
    status: 404,
    title: "There is no such webhook",
    meaning: "The webhook does not exist, was deleted, or belongs to another user.",
    fix: "Check the id and the token. GET /v1/webhooks lists your webhooks.",
    example: 'there is no webhook "hook_01k7zq5r9te2f4h6k8n0q2s4vw"',
  },
  audio_not_found: {
    status: 404,
    title: "There is no such audio file",
    meaning: "The id is unknown, or the file was deleted, has expired, or belongs to another user.",
    fix: "Check the id and the token, or store the file again with POST /v1/audio. GET /v1/audio lists your files.",
    example: 'there is no audio file "audio_01k7zq7t1vg4h6k8n0q2s4v6xz"',
  },
  consent_not_found: {
    status: 404,
    title: "Nothing is recorded about the number",
    meaning: "You have not recorded whether this number may be called; another user may have.",
    fix: "Check the number and the token. PUT /v1/consents/:phone records it, GET /v1/consents lists what is recorded.",
    example: "no consent for +12025550100 is recorded",
  },
  delivery_not_found: {
    status: 404,
    title: "There is no such delivery",
    meaning: "The webhook has no such delivery, or the server deleted it because of its age.",
    fix: "Check both ids. GET /v1/webhooks/:webhookId/deliveries lists what can be replayed.",
    example: 'the webhook has no delivery "dlv_01k7zq7t1vg4h6k8n0q2s4v6xz"',
  },
  link_page_not_found: {
    status: 404,
    title: "There is no such link page",
    meaning:
      "The address of the link page is incomplete, was made by a server with another secret, or its instance is deleted.",
    fix: "Use the whole url of POST /v1/instances/{instanceId}/link-page.",
    example: "there is no such link page; its address may be incomplete",
  },
} as const satisfies Partial<Record<ProblemCode, ProblemKind>>;
