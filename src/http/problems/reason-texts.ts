import type { CompletedReason, FailedReason } from "../../domain/calls/outcome.ts";

/** Meaning of each reason for the end of a call. */
export const REASON_TEXTS: Readonly<Record<CompletedReason | FailedReason, string>> = {
  message_played:
    "The whole message was played, and Ringport hung up. heard_evidence names the evidence that it arrived, if there is any.",
  callee_hung_up:
    "The callee hung up. heard_ratio is the share of the message that had been played by then; null without evidence that it arrived.",
  agent_finished: "The agent ended the conversation.",
  stream_closed: "The program that streamed the audio closed its stream or hung up.",
  machine_hung_up:
    "A machine answered, and the call was placed with onMachine: hang_up; or a fax machine answered, or the network played a tone, which detail names.",
  max_duration: "The call reached its maximum duration (maxDurationMs).",
  terminated: "DELETE /v1/calls/:callId ended the call, or its stream's client did before pickup.",
  busy: "The callee is on another call.",
  declined: "The callee, a person, rejected the call.",
  no_answer:
    "The network reported that the callee was reached, but the call was not picked up within the ring timeout (ringTimeoutMs), or until the network gave up.",
  unreachable:
    "The phone was not reached: it is switched off or without coverage, or the network reported no ringing. detail has what is known.",
  number_invalid: "The number does not exist on this network.",
  rejected_by_network:
    "The network refused the call, or may not call this number; no person declined. detail has the cause, the codes of the provider, and where to object to a blocked number.",
  instance_not_linked: "No phone number was linked to the instance before the call's time in the queue ran out.",
  instance_offline:
    "The line of the instance stayed offline, or at its limit of calls, until the call's time in the queue ran out; or it has a fault that only a person can fix. detail has the cause.",
  instance_deleted: "The instance was deleted while the call was active.",
  instance_lost: "The line of the instance was lost during the call.",
  media_failed:
    "The call was accepted, but its audio could not be set up, or required inbound audio never arrived: there is no evidence that the callee heard the message.",
  speech_failed:
    "The text could not be spoken, or its beginning was not ready in time, in which case no phone rang. detail has the cause.",
  agent_failed: "The agent failed during the call. detail has the cause.",
  agent_unavailable:
    "No agent here can conduct the call, or its network does not return the callee's audio. No phone rang; detail has the cause and the fix.",
  stream_lost: "After pickup, no program was attached to the stream for too long (streamAttachMs).",
  stream_unavailable:
    "Live streams are not available on this server or on this network. No phone rang; detail has the cause.",
  interrupted:
    "The server stopped or crashed while dialling or during the call. The callee's phone may have rung; the call is not dialled again.",
  blocked_no_consent:
    "The server calls only numbers whose consent is recorded, and there is none for this number. No phone rang.",
  blocked_do_not_call: "The number is recorded as one that must not be called. No phone rang.",
  outside_calling_hours:
    "The server calls only at certain hours of the callee's own time zone. No phone rang; detail has the time there and the hours.",
  instance_paused:
    "The number of the instance is paused, for longer than the call's time in the queue: too few of its calls were answered, it has warmed up too little for more calls, or its network lets it call only people who have written to it. No phone rang; detail has the numbers and when it calls again.",
  internal_error: "An unexpected error. The server's log has it under the call's id.",
};
