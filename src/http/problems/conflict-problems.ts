import { type ProblemCode, type ProblemKind, RETRY_IN_1_S } from "./problem-kind.ts";

/** Records that are in the wrong state, and limits of what a user keeps: 409 and 410. */
export const CONFLICT_PROBLEMS = {
  instance_already_linked: {
    status: 409,
    title: "The instance is already linked",
    meaning: "A phone number is already linked to the instance, so there is no QR code.",
    fix: "You can place calls now. For another number, create another instance, or unlink this one first.",
    example: 'instance "inst_01k7zq0f8vf1c9m2x4s6t8w0ya" is already linked; it needs no QR code',
  },
  linked_by_operator: {
    status: 409,
    title: "The operator links the numbers of this network",
    meaning:
      "The network, such as a SIP trunk, gets its numbers from the configuration of the server. No code was scanned.",
    fix: "Delete the instance, or ask the operator to change the network.",
    example: '"sip/office" links its numbers automatically, so they cannot be unlinked; delete the instance instead',
  },
  instance_quota: {
    status: 409,
    title: "The user is at their limit of instances",
    meaning: "The server limits them per user. Deleted instances do not count.",
    fix: "Delete an unused instance, or ask the operator to raise the limit.",
    example: "you have 1000 instances, and this server allows 1000; delete one first",
  },
  audio_quota: {
    status: 409,
    title: "The user is at their limit of stored audio files",
    meaning:
      "The user has stored as many audio files as this server allows, deleted ones that are still in use included.",
    fix: "Delete files that are not needed. The operator of the server can raise the limit.",
    example: "you have 1000 audio files, and this server allows 1000; delete one first",
  },
  batch_quota: {
    status: 409,
    title: "The user is at their limit of batches",
    meaning: "The user has as many batches as this server allows, ended ones included.",
    fix: "Delete a batch that has ended. The operator of the server can raise the limit.",
    example: "you have 200 batches, and this server allows 200; delete one that has ended",
  },
  batch_full: {
    status: 409,
    title: "The batch is at its limit of targets",
    meaning: "The server limits the targets of a batch. The targets before the limit are stored.",
    fix: "Put the remaining rows into another batch. The operator of the server can raise the limit.",
    example: "a batch has at most 100000 targets; row 100001 and the rows after it were not stored",
  },
  batch_not_draft: {
    status: 409,
    title: "The batch is no longer a draft",
    meaning: "Targets can be added, corrected and removed only until the batch is started.",
    fix: "Create another batch for further targets, or cancel this one.",
    example: 'batch "batch_01k7zq0f8vf1c9m2x4s6t8w0ya" is RUNNING; only a DRAFT accepts targets',
  },
  batch_open: {
    status: 409,
    title: "The batch has not ended",
    meaning: "A batch that is scheduled, running or paused cannot be deleted.",
    fix: "Cancel it first.",
    example: 'batch "batch_01k7zq0f8vf1c9m2x4s6t8w0ya" is RUNNING; cancel it first',
  },
  batch_state: {
    status: 409,
    title: "The batch is in the wrong state",
    meaning: "The step is not possible in this state of the batch. The detail names the state.",
    fix: "Read the batch. docs/batches.md shows which steps each state allows.",
    example: 'batch "batch_01k7zq0f8vf1c9m2x4s6t8w0ya" is COMPLETED, so it cannot be paused',
  },
  batch_invalid: {
    status: 409,
    title: "Some targets are invalid",
    meaning: "No call is placed before every target is valid, unless the start skips invalid targets.",
    fix: 'List them with GET /v1/batches/:batchId/targets?status=INVALID, correct or remove them, or start with {"skipInvalid": true}.',
    example: '2 of 300 targets are invalid; correct them, or start with {"skipInvalid": true}',
  },
  batch_empty: {
    status: 409,
    title: "The batch has no target to call",
    meaning: "No target of the batch is valid.",
    fix: "Add targets with POST /v1/batches/:batchId/targets first.",
    example: 'batch "batch_01k7zq0f8vf1c9m2x4s6t8w0ya" has no target to call; add targets first',
  },
  webhook_quota: {
    status: 409,
    title: "The user is at their limit of webhooks",
    meaning: "The user has as many webhooks as this server allows.",
    fix: "Delete a webhook first. The operator of the server can raise the limit.",
    example: "you have 20 webhooks, and this server allows 20; delete one first",
  },
  storage_quota: {
    status: 409,
    title: "The user is at their limit of stored bytes",
    meaning:
      "The server limits what each user stores: calls with their texts, events, transcripts and recordings, and instances, including deleted ones. " +
      "Calls of demo tokens have a smaller limit for each instance.",
    fix: "Ask the operator to raise the limit, or to delete old calls after a time.",
    example: "the demo tokens of this instance have stored 12.0 MiB, and this server allows 12.0 MiB",
  },
  consent_quota: {
    status: 409,
    title: "The user is at their limit of consents",
    meaning:
      "The user has recorded consents for as many numbers as this server allows. Replacing one is always possible.",
    fix: "Delete consents that are not needed first. The operator of the server can raise the limit.",
    example: "you have 100000 consents, and this server allows 100000; delete one first",
  },
  delivery_quota: {
    status: 409,
    title: "Too many tests and replays wait for their delivery",
    meaning:
      "The webhook has the maximum number of tests and replays waiting for delivery. Deliveries of events have no such limit.",
    fix: "Repair the endpoint, or wait until it has accepted some of them.",
    example:
      "1000 tests and replays of this webhook wait for their delivery, and no more are accepted; wait for some of them",
  },
  webhook_disabled: {
    status: 409,
    title: "The webhook is disabled",
    meaning: "The webhook is disabled: on request, because its endpoint returned 410, or after it failed for days.",
    fix: "Repair the endpoint, then send PATCH /v1/webhooks/:webhookId with enabled: true.",
    example: "the webhook is disabled; enable it first",
  },
  queue_full: {
    status: 409,
    title: "The queue of the instance is full",
    meaning: "The queue already holds its maximum number of calls. Only servers with a fifo queue return this.",
    fix: "Wait until a call has ended, use another instance, or ask the operator to raise the depth of the queue.",
    example: 'the queue of instance "inst_01k7zq0f8vf1c9m2x4s6t8w0ya" is full; wait until one of its calls ends',
  },
  idempotency_key_in_progress: {
    status: 409,
    title: "A request with this idempotency key is still running",
    headers: RETRY_IN_1_S,
    meaning: "The earlier request has not completed yet.",
    fix: "Send the same request again after Retry-After.",
    example: 'a request with the key "order-7" is still running',
  },
  not_a_stream_call: {
    status: 409,
    title: "The call is not a stream call",
    meaning: "Only a DYNAMIC_STREAM call has a stream.",
    fix: "Open the stream of a call that was created with the type DYNAMIC_STREAM.",
    example: "the call is a FIXED_TTS call, not a DYNAMIC_STREAM call",
  },
  stream_already_attached: {
    status: 409,
    title: "A client is already attached to the stream",
    meaning: "Another client is connected to the stream of this call.",
    fix: "Close the other connection first.",
    example: "a client is already attached to this stream",
  },
  too_many_listeners: {
    status: 409,
    title: "The call has too many listeners",
    meaning: "A live call has at most 4 listeners.",
    fix: "Close one of the other connections to GET /v1/calls/:callId/listen first.",
    example: "4 listeners are already connected to this call; close one of them",
  },
  call_ended: {
    status: 409,
    title: "The call has ended",
    meaning:
      "The call has ended, or the client of its stream has hung up, so there is nothing left to stream or to listen to.",
    fix: "Create a new call. ?expand=outcome shows how the old one ended.",
    example: "the call is COMPLETED",
  },
  pairing_code_unsupported: {
    status: 409,
    title: "The network has no pairing codes",
    meaning: "The network of this instance has no codes that are typed on a phone.",
    fix: "Scan the QR code of GET /v1/instances/:instanceId/configure instead.",
    example: 'the network "simulator" has no pairing codes; scan the QR code instead',
  },
  recording_not_ready: {
    status: 409,
    title: "The recording is not ready yet",
    headers: RETRY_IN_1_S,
    meaning: "What the callee of a simulated call heard is available only after the call.",
    fix: "Try again after Retry-After.",
    example: "the call is still running; try again when it has ended",
  },
  link_page_expired: {
    status: 410,
    title: "The link page has expired",
    meaning: "A link page works for an hour.",
    fix: "POST /v1/instances/{instanceId}/link-page makes a new one.",
    example: "this page has expired; ask its sender for a new address",
  },
  log_reset: {
    status: 410,
    title: "The log was restored to an earlier state",
    meaning:
      "The server's database was restored to an earlier state, from a copy or by a failover to a replica that lagged behind. " +
      "The event that the cursor refers to is no longer in the log, so you may have seen events that no longer exist, and " +
      "others are new.",
    fix:
      "Continue from the cursor in this response (also in the Next-Cursor header), and skip events whose ids you have seen. " +
      "Read the calls that you considered finished again.",
    example:
      "the database was restored to an earlier state, and the event that your cursor refers to is no longer there; continue " +
      "from the cursor bG9nXzQyXzAxazd6cTd0MXZnNGg2azhuMHEyczR2Nnh6 and skip the events whose ids you have seen",
  },
} as const satisfies Partial<Record<ProblemCode, ProblemKind>>;
