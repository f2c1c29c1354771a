// Shapes of responses. What a request may contain is in src/domain/call-input.ts.

import * as v from "valibot";
import { ANSWERERS } from "../../domain/answering-machine.ts";
import { CALL_STATUSES, CALL_TYPES } from "../../domain/call.ts";
import { COMPLETED_REASONS, FAILED_REASONS, HEARD_EVIDENCE } from "../../domain/outcome.ts";
import { SPEAKERS } from "../../domain/transcript.ts";
import { callId, count, instanceId, milliseconds, phone, shape, share, timestamp } from "./shape.ts";

const summary = {
  id: callId,
  type: v.picklist(CALL_TYPES),
  status: v.pipe(v.picklist(CALL_STATUSES), v.description("COMPLETED and FAILED are final.")),
  target_phone: phone,
  created_at: timestamp,
};
const { id, ...rest } = summary;
const created = { id, instance_id: instanceId, ...rest };

export const CallSummary = shape("An active call in the queue of an instance.", summary);

export const CreatedCall = shape("The response to the creation of a call.", created);

export const CallerId = shape("The caller as the callee sees it; the network fills in missing fields.", {
  phoneNumber: v.optional(phone),
  displayName: v.optional(v.string()),
  withheld: v.optional(v.pipe(v.boolean(), v.description("Number and name are withheld from the callee."))),
});

export const Outcome = shape("How a call ended.", {
  reason: v.picklist([...COMPLETED_REASONS, ...FAILED_REASONS]),
  detail: v.pipe(v.nullable(v.string()), v.description("The raw cause: SIP status, Q.850 cause, network code.")),
  answered_by: v.nullable(v.picklist(ANSWERERS)),
  heard_ms: v.pipe(
    v.nullable(milliseconds),
    v.description(
      "How much of the message was played to the callee, ms; never more than duration_ms, null if the server died during the call.",
    ),
  ),
  heard_ratio: v.pipe(
    v.nullable(share),
    v.description(
      "The share of the accepted message that was played, 0 to 1: heard_ms divided by the length of the message, less what an event such as text_skipped reports; null for a call without a fixed message, for an answered call without evidence that the callee's side received our audio (heard_evidence is none), if the length is unknown, and if heard_ms is null.",
    ),
  ),
  heard_evidence: v.pipe(
    v.nullable(v.picklist(HEARD_EVIDENCE)),
    v.description(
      "The evidence that the callee's side received our audio: its own audio, only its RTCP, or nothing; null if the server died during the call, and for calls of earlier versions.",
    ),
  ),
  duration_ms: v.pipe(milliseconds, v.description("From pickup to the end, ms; 0 if nobody picked up.")),
});

export const TranscriptLine = shape("One utterance on a call.", {
  speaker: v.pipe(
    v.picklist(SPEAKERS),
    v.description("`caller` is the audio that the stream's client plays to the callee."),
  ),
  text: v.string(),
  timestamp: v.pipe(timestamp, v.description("When it was spoken.")),
  start_ms: v.pipe(milliseconds, v.description("From pickup, ms.")),
  end_ms: milliseconds,
  confidence: v.pipe(
    v.nullable(share),
    v.description("The engine's confidence, 0 to 1; null if the engine does not report one."),
  ),
});

const latency = (description: string) => v.pipe(v.nullable(milliseconds), v.description(description));
export const TurnMetrics = shape("The latencies of one turn of an agent, ms; null if the turn has no such moment.", {
  input: v.pipe(
    v.picklist(["begin", "key", "words", "silence", "voicemail", "transfer_failed", "unheard", "fault", "ending"]),
    v.description("What the agent replied to."),
  ),
  eou_delay_ms: latency(
    "From the callee's last speech to the decision that the turn was over; null if the engine decides that itself.",
  ),
  stt_final_ms: latency("From that decision, or else from the callee's last speech, to the final text."),
  llm_ttft_ms: latency("From the request for a reply to the model's first token; null without a model."),
  first_sentence_ms: latency("From the request for a reply to its first sentence."),
  tts_ttfb_ms: latency("From the first sentence to its first samples."),
  tts_leading_silence_ms: latency("Silence at the beginning of the agent's audio."),
  first_audio_sent_ms: latency("From the request for a reply to the first of its samples that was sent."),
  turn_gap_ms: latency("From the callee's last speech, or key, to the agent's first audible sample."),
  interrupted: v.pipe(v.boolean(), v.description("Whether the callee interrupted the agent's words.")),
  interrupt_latency_ms: latency(
    "From the beginning of the callee's speech to the agent's last sample; null unless speech interrupted the turn.",
  ),
});
export const CallMetrics = shape("What was measured during a call that an agent conducted.", {
  turns: v.pipe(v.array(TurnMetrics), v.description("In their order; the first 500.")),
});

export const StreamStatistics = shape("How a call's audio travelled over the network, counted on our side.", {
  codec: v.string(),
  packets_sent: count,
  packets_received: v.pipe(count, v.description("0 on a call that was picked up: the audio was one-way.")),
  packets_lost: v.pipe(count, v.description("Remote packets that never arrived, or arrived too late to be played.")),
  packets_reordered: count,
  packets_duplicated: count,
  packets_invalid: v.pipe(count, v.description("Broken packets: wrong keys, or not RTP.")),
  packets_injected: v.pipe(
    v.nullable(count),
    v.description("RTP packets from other senders; null if the network does not count them."),
  ),
  jitter_ms: v.pipe(v.number(), v.minValue(0), v.description("Interarrival jitter (RFC 3550).")),
  round_trip_ms: v.pipe(
    v.nullable(v.pipe(v.number(), v.minValue(0))),
    v.description("null if the remote side does not report it."),
  ),
  remote_loss: v.pipe(
    v.nullable(share),
    v.description("Share of our packets that the remote side lost, 0 to 1; null if it does not report it."),
  ),
  mos: v.pipe(
    v.nullable(v.pipe(v.number(), v.minValue(1), v.maxValue(5))),
    v.description("Estimated mean opinion score, 1 to 4.5; null before the first packet."),
  ),
  held_ms: v.pipe(v.number(), v.minValue(0), v.description("How long the remote side kept the call on hold, ms.")),
});
export const QualityInterval = shape("How a call's audio travelled during one interval, counted on our side.", {
  until_ms: v.pipe(
    milliseconds,
    v.description("The end of the interval, from the connection of the call; it begins at the end of the one before."),
  ),
  packets_sent: count,
  packets_received: count,
  packets_lost: v.pipe(count, v.description("Remote packets that never arrived, or arrived too late to be played.")),
  jitter_ms: v.pipe(v.number(), v.minValue(0), v.description("Interarrival jitter (RFC 3550), at its highest.")),
  round_trip_ms: v.pipe(
    v.nullable(v.pipe(v.number(), v.minValue(0))),
    v.description("At its highest; null if the remote side does not report it."),
  ),
  remote_loss: v.pipe(
    v.nullable(share),
    v.description("Share of all our packets so far that the remote side lost, 0 to 1; null if it does not report it."),
  ),
});
export const CallQuality = shape("How a call's audio travelled over time.", {
  intervals: v.pipe(
    v.array(QualityInterval),
    v.description(
      "Oldest first, fewer than 120: of 5 s at first, longer ones in long calls; the last one may be shorter.",
    ),
  ),
});

const stream = v.pipe(
  v.nullable(StreamStatistics),
  v.description(
    "How the audio travelled over the network; null until the call is over, and if the network does not count.",
  ),
);

export const Recording = shape("The recording of a call.", {
  duration_ms: milliseconds,
  url: v.pipe(v.string(), v.description("Address of the WAV file, for the same token.")),
});
const recording = v.optional(
  v.pipe(
    v.nullable(Recording),
    v.description("Present if the call is to be recorded; null until the call is over, and if nothing was kept."),
  ),
);

const bytes = v.pipe(v.number(), v.integer(), v.minValue(0));
export const FileBytes = shape("The bytes of an audio file by their use; their sum is its size.", {
  header: v.pipe(bytes, v.description("Headers, tags and padding.")),
  played: v.pipe(bytes, v.description("Audio that is played.")),
  ignored: v.pipe(bytes, v.description("The rest; the event `audio_ignored` names the reasons.")),
});
const sip_call_id = v.optional(
  v.pipe(
    v.string(),
    v.description(
      "Present once a call over SIP was dialled: the Call-ID of its last INVITE, as the provider's logs have it.",
    ),
  ),
);

export const AudioMedia = shape("The media of a call that plays an audio file.", {
  format: v.picklist(["wav", "mp3"]),
  duration_ms: milliseconds,
  truncated: v.pipe(v.boolean(), v.description("The file is cut off: it is shorter than its header states.")),
  bytes: v.optional(FileBytes),
  stream,
  recording,
  sip_call_id,
});

export const SpeechMedia = shape("The media of a call that speaks a text.", {
  voice_id: v.string(),
  characters: v.pipe(v.number(), v.integer(), v.minValue(1)),
  stream,
  recording,
  sip_call_id,
});

export const LiveMedia = shape("The media of a call without a fixed message.", { stream, recording, sip_call_id });

export const Call = shape("A call.", {
  ...created,
  from: v.optional(CallerId),
  started_at: v.pipe(v.nullable(timestamp), v.description("When the call connected; null until then.")),
  ended_at: v.pipe(v.nullable(timestamp), v.description("When the call ended; null until then.")),
  outcome: v.optional(v.pipe(v.nullable(Outcome), v.description("With expand=outcome; null until the call is final."))),
  transcript: v.optional(
    v.pipe(
      v.nullable(v.array(TranscriptLine)),
      v.description("With expand=transcript: what was spoken, in the order of speaking; null until there is any."),
    ),
  ),
  result: v.optional(
    v.pipe(
      v.nullable(v.record(v.string(), v.unknown())),
      v.description(
        "With expand=result: what the agent found out, by name; null until the call is over, and if nothing.",
      ),
    ),
  ),
  result_error: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description(
        "With expand=result, if the call has a resultSchema, or its result could not be stored: why the result is null; null until the call is over.",
      ),
    ),
  ),
  metrics: v.optional(
    v.pipe(
      v.nullable(CallMetrics),
      v.description(
        "With expand=metrics: the latencies of the agent's turns; null until the call is over, and without an agent.",
      ),
    ),
  ),
  quality: v.optional(
    v.pipe(
      v.nullable(CallQuality),
      v.description(
        "With expand=quality: how the audio travels over time, also while the call goes on; null until something was " +
          "measured, and if the network does not count.",
      ),
    ),
  ),
  media: v.optional(
    v.pipe(
      v.nullable(v.union([AudioMedia, SpeechMedia, LiveMedia])),
      v.description(
        "With expand=media: the message, and how the audio travelled over the network. For a call without a fixed message " +
          "null until there are statistics, unless the call is to be recorded or has a Call-ID.",
      ),
    ),
  ),
  reference: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description("With expand=reference: as given at the creation; null if it was not."),
    ),
  ),
  metadata: v.optional(
    v.pipe(
      v.record(v.string(), v.unknown()),
      v.description("With expand=reference: as given at the creation; {} if it was not."),
    ),
  ),
});
