import * as v from "valibot";
import { STREAM_EVENTS } from "../../application/call-audio/streams/stream-client.ts";
import { ANSWERERS } from "../../domain/answering/answering-machine.ts";
import { CALL_STATUSES } from "../../domain/calls/call.ts";
import { COMPLETED_REASONS, FAILED_REASONS } from "../../domain/calls/outcome.ts";
import { LINE_TONES } from "../../domain/tones/line-tones.ts";
import { isoTime, milliseconds, shape } from "./shape.ts";

export const streamTicketShape = shape("A ticket for the stream of one call.", {
  ticket: v.pipe(v.string(), v.description("Valid once, as `?ticket=`.")),
  expires_at: isoTime,
  url: v.pipe(v.string(), v.description("Address to connect to: the address of the stream, ticket included.")),
});

export const streamTranscriptShape = shape("A stream's message with spoken text.", {
  type: v.literal("transcript"),
  text: v.string(),
  timestamp: isoTime,
  final: v.pipe(v.boolean(), v.description("false: the text may still change.")),
  speaker: v.picklist(["callee", "caller"]),
});

export const streamCallEventShape = shape("A stream's message with an event of the call.", {
  type: v.literal("call_event"),
  event: v.picklist(STREAM_EVENTS),
  timestamp: isoTime,
  digit: v.optional(v.pipe(v.string(), v.description("With `dtmf`: the key that the callee pressed."))),
  name: v.optional(v.pipe(v.string(), v.description("With `mark`: its name."))),
  heard_ms: v.optional(v.pipe(v.number(), v.description("With `cleared`: how much of all the audio was heard, ms."))),
  queued_ms: v.optional(
    v.pipe(v.number(), v.description("With `buffer_high` and `buffer_low`: how much audio is queued, ms.")),
  ),
  dropped_ms: v.optional(
    v.pipe(v.number(), v.description("With `audio_dropped`: how much of the callee's audio is missing here, ms.")),
  ),
  hz: v.optional(v.pipe(v.number(), v.description("With `beep`: its tone, Hz."))),
  tone: v.optional(v.pipe(v.picklist(LINE_TONES), v.description("With `line_tone`: the tone that was recognised."))),
  at_ms: v.optional(
    v.pipe(
      v.number(),
      v.description(
        "With `beep` and `line_tone`: when it began, ms after pickup. With `answered_by`: when it was known.",
      ),
    ),
  ),
  answered_by: v.optional(v.pipe(v.picklist(ANSWERERS), v.description("With `answered_by`: the probable answerer."))),
  confidence: v.optional(v.pipe(v.number(), v.description("With `answered_by`: 0 to 1."))),
  reason: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description(
        "With `completed`, `failed` and `answered_by`: why. With `transcripts_unavailable`: `no_engine` or `engine_failed`.",
      ),
    ),
  ),
  recoverable: v.optional(
    v.pipe(
      v.boolean(),
      v.description("With `engine_failed`. true: only a part is missing; false: no further transcripts follow."),
    ),
  ),
});

export const streamProgressShape = shape("How much of a client's stream the server has processed.", {
  type: v.literal("progress"),
  messages: v.pipe(
    v.number(),
    v.description(
      "Number of messages processed from clients of this call so far, over all connections; `progress` does not count.",
    ),
  ),
  queued_ms: v.pipe(v.number(), v.description("Audio that is queued, ms.")),
});

export const streamErrorShape = shape("The reply of a stream to a text message that it does not understand.", {
  type: v.literal("error"),
  code: v.string(),
  detail: v.string(),
});

export const listenWaitingShape = shape("A message to a listener: the call has not been picked up yet.", {
  type: v.literal("waiting"),
  status: v.picklist(CALL_STATUSES),
});

export const listenStartedShape = shape("A message to a listener: the audio begins.", {
  type: v.literal("started"),
  sample_rate: v.pipe(v.number(), v.description("Hz, of each channel.")),
  encoding: v.literal("pcm_s16le"),
  channels: v.pipe(
    v.array(v.picklist(["callee", "played"])),
    v.description("In the order of the interleaved samples: the callee, and what was played to them."),
  ),
});

export const listenGapShape = shape(
  "A message to a listener: audio is missing here, because the client read too slowly.",
  {
    type: v.literal("gap"),
    lost_ms: milliseconds,
  },
);

export const listenEndedShape = shape("The last message to a listener: the call has ended.", {
  type: v.literal("call_ended"),
  status: v.picklist(["COMPLETED", "FAILED"]),
  reason: v.picklist([...COMPLETED_REASONS, ...FAILED_REASONS]),
});
