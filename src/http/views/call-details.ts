import * as v from "valibot";
import type { TurnMetrics as Turn } from "../../domain/agents/turn-metrics.ts";
import { ANSWERERS } from "../../domain/answering/answering-machine.ts";
import { COMPLETED_REASONS, FAILED_REASONS, HEARD_EVIDENCE } from "../../domain/calls/outcome.ts";
import { type TranscriptLine as Line, SPEAKERS } from "../../domain/calls/transcript.ts";
import type { View } from "../response-types.ts";
import { timestamp } from "../timestamp.ts";
import { isoTime, milliseconds, shape, share } from "./shape.ts";

export const outcomeShape = shape("End of a call.", {
  reason: v.picklist([...COMPLETED_REASONS, ...FAILED_REASONS]),
  detail: v.pipe(v.nullable(v.string()), v.description("The raw cause: SIP status, Q.850 cause, network code.")),
  answered_by: v.nullable(v.picklist(ANSWERERS)),
  heard_ms: v.pipe(
    v.nullable(milliseconds),
    v.description(
      "Played length of the message, ms; never more than duration_ms, null if the server died during the call.",
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
      "The evidence that the callee's side received our audio: its own audio, only its RTCP, or none; null if the server died during the call, and for calls of earlier versions.",
    ),
  ),
  duration_ms: v.pipe(milliseconds, v.description("From pickup to the end, ms; 0 if the call was not picked up.")),
});

export const transcriptLineShape = shape("One utterance on a call.", {
  speaker: v.pipe(
    v.picklist(SPEAKERS),
    v.description("`caller` is the audio that the stream's client plays to the callee."),
  ),
  text: v.string(),
  timestamp: v.pipe(isoTime, v.description("Time at which it was spoken.")),
  start_ms: v.pipe(milliseconds, v.description("From pickup, ms.")),
  end_ms: milliseconds,
  confidence: v.pipe(
    v.nullable(share),
    v.description("The engine's confidence, 0 to 1; null if the engine does not report one."),
  ),
});

const latency = (description: string) => v.pipe(v.nullable(milliseconds), v.description(description));

export const turnMetricsShape = shape(
  "The latencies of one turn of an agent, ms; null if the turn has no such moment.",
  {
    input: v.pipe(
      v.picklist(["begin", "key", "words", "silence", "voicemail", "transfer_failed", "unheard", "fault", "ending"]),
      v.description("Input that the agent replied to."),
    ),
    eou_delay_ms: latency(
      "Time from the callee's last speech to the decision that the turn had ended; null if the engine decides that itself.",
    ),
    stt_final_ms: latency("Time from that decision, or else from the callee's last speech, to the final text."),
    llm_ttft_ms: latency("Time from the request for a reply to the model's first token; null without a model."),
    first_sentence_ms: latency("Time from the request for a reply to its first sentence."),
    tts_ttfb_ms: latency("Time from the first sentence to its first samples."),
    tts_leading_silence_ms: latency("Silence at the beginning of the agent's audio."),
    first_audio_sent_ms: latency("Time from the request for a reply to the first of its samples that was sent."),
    turn_gap_ms: latency("Time from the callee's last speech, or key, to the agent's first audible sample."),
    interrupted: v.pipe(v.boolean(), v.description("True if the callee interrupted the agent's words.")),
    interrupt_latency_ms: latency(
      "Time from the beginning of the callee's speech to the agent's last sample; null unless speech interrupted the turn.",
    ),
  },
);

export const callMetricsShape = shape("Measurements of a call that an agent conducted.", {
  turns: v.pipe(v.array(turnMetricsShape), v.description("In order; at most the first 500.")),
});

export function transcriptLineView(line: Line): View<"TranscriptLine"> {
  return {
    speaker: line.speaker,
    text: line.text,
    timestamp: timestamp(line.timestamp),
    start_ms: line.startMs,
    end_ms: line.endMs,
    confidence: line.confidence,
  };
}

export function turnView(turn: Turn): View<"TurnMetrics"> {
  return {
    input: turn.input,
    eou_delay_ms: turn.eouDelayMs,
    stt_final_ms: turn.sttFinalMs,
    llm_ttft_ms: turn.llmTtftMs,
    first_sentence_ms: turn.firstSentenceMs,
    tts_ttfb_ms: turn.ttsTtfbMs,
    tts_leading_silence_ms: turn.ttsLeadingSilenceMs,
    first_audio_sent_ms: turn.firstAudioSentMs,
    turn_gap_ms: turn.turnGapMs,
    interrupted: turn.interrupted,
    interrupt_latency_ms: turn.interruptLatencyMs,
  };
}
