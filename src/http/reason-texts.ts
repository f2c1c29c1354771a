import type { CompletedReason, FailedReason } from "../domain/outcome.ts";

/** Why a call ended, in a sentence for each reason. */
export const REASON_TEXTS: Readonly<Record<CompletedReason | FailedReason, string>> = {
  message_played: "The whole message was played, and Ringport hung up.",
  callee_hung_up: "The callee hung up. heard_ratio says how much of the message had been played until then.",
  agent_finished: "The agent ended the conversation.",
  stream_closed: "The program that streamed the audio closed its stream or hung up.",
  max_duration: "The call lasted as long as a call may last (maxDurationMs).",
  terminated: "It was ended by DELETE /v1/calls/:callId, or by its stream's client before the answer.",
  busy: "The callee is on another call.",
  declined: "The callee pressed the red button.",
  no_answer: "The phone rang as long as it may ring (ringTimeoutMs), and nobody answered.",
  unreachable: "The network cannot reach the phone: switched off, or without coverage.",
  number_invalid: "The number does not exist on this network.",
  rejected_by_network: "The network refused the call, or the number may not be called over it. detail says why.",
  instance_not_linked: "No phone number was linked to the instance before the call's time in the queue was over.",
  instance_offline:
    "The line of the instance was offline, or took no more calls, until the call's time in the queue was over; or it has a fault that only a person can mend. detail says which.",
  instance_deleted: "The instance was deleted while the call was active.",
  instance_lost: "The line of the instance was lost in the middle of the call.",
  media_failed:
    "The call was accepted, but audio could not be set up, or none came where it had to come: nothing shows that anybody heard the message.",
  speech_failed:
    "The text could not be spoken, or its beginning was not ready in time; then nobody's phone rang. detail says which.",
  agent_failed: "The agent stopped working in the middle of the call.",
  agent_unavailable: "No agent is configured on this server. Nobody's phone rang.",
  stream_lost: "No program was attached to the stream of the answered call for too long (streamAttachMs).",
  stream_unavailable: "Live streams are not available on this server. Nobody's phone rang.",
  interrupted:
    "The server stopped, or died, while it was dialing or in the middle of the call. The callee may have been rung; the call is not dialled again.",
  internal_error: "Something went wrong that should not have. The server's log has it under the call's id.",
};
