import { outcomeData } from "../application/calls/outcomes.ts";
import type { Connection, InstanceDetails, ListedInstance } from "../application/use-cases.ts";
import { type Call, isActive } from "../domain/call.ts";
import type { NumberedEvent } from "../domain/events.ts";
import type { FileBytes } from "../domain/file-bytes.ts";
import type { Instance } from "../domain/instance.ts";
import type { MediaStatistics } from "../domain/media-statistics.ts";
import type { QualityInterval } from "../domain/quality-series.ts";
import type { TranscriptLine } from "../domain/transcript.ts";
import type { TurnMetrics } from "../domain/turn-metrics.ts";
import type { Voice } from "../ports/speech.ts";
import type { View } from "./answers.ts";

export const CALL_EXPANSIONS = ["outcome", "transcript", "media", "reference", "result", "metrics", "quality"] as const;
export type CallExpansion = (typeof CALL_EXPANSIONS)[number];

/** RFC 3339, UTC, milliseconds, from ms since 1970-01-01 UTC. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** {@link timestamp}, or null. */
export function maybeTimestamp(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}

/** A call in the queue of its instance. */
function callSummaryView(call: Call): View<"CallSummary"> {
  return {
    id: call.id,
    type: call.message.type,
    status: call.status,
    target_phone: call.targetPhone,
    created_at: timestamp(call.createdAt),
  };
}

/** A call in the response to its creation. */
export function createdCallView(call: Call): View<"CreatedCall"> {
  const { id, ...rest } = callSummaryView(call);
  return { id, instance_id: call.instanceId, ...rest };
}

/**
 * A call in the response to a read, with the requested objects.
 * @param server public URL of the interface, base path included
 * @param transcript of the call; used only if it was requested
 */
export function callView(
  call: Call,
  server: () => string,
  expand?: ReadonlySet<CallExpansion>,
  transcript: readonly TranscriptLine[] = [],
): View<"Call"> {
  const { created_at, ...head } = createdCallView(call);
  const view: View<"Call"> = {
    ...head,
    ...(call.from && { from: { ...call.from } }),
    started_at: maybeTimestamp(call.startedAt),
    ended_at: maybeTimestamp(call.endedAt),
    created_at,
  };
  if (!expand) return view;
  if (expand.has("outcome")) view.outcome = call.outcome && outcomeData(call.outcome);
  if (expand.has("transcript")) view.transcript = transcript.length > 0 ? transcript.map(transcriptLineView) : null;
  if (expand.has("result")) {
    view.result = call.result ?? null;
    const hasSchema = call.message.type === "DYNAMIC_AGENT" && call.message.resultSchema;
    if (hasSchema || call.resultError) view.result_error = resultError(call);
  }
  if (expand.has("metrics")) view.metrics = call.turns === undefined ? null : { turns: call.turns.map(turnView) };
  if (expand.has("quality"))
    view.quality = call.quality === undefined ? null : { intervals: call.quality.map(intervalView) };
  if (expand.has("media")) view.media = mediaView(call, server);
  if (expand.has("reference")) {
    view.reference = call.reference ?? null;
    view.metadata = call.metadata ?? {};
  }
  return view;
}

/** Why a call has no result although it was asked for one by a schema, or its agent had one. */
function resultError({ status, startedAt, result, resultError }: Call): string | null {
  if (resultError || result || isActive(status)) return resultError ?? null;
  return startedAt === null ? "nobody picked up" : "the server ended before the result was known";
}

function turnView(turn: TurnMetrics): View<"TurnMetrics"> {
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

function transcriptLineView(line: TranscriptLine): View<"TranscriptLine"> {
  return {
    speaker: line.speaker,
    text: line.text,
    timestamp: timestamp(line.timestamp),
    start_ms: line.startMs,
    end_ms: line.endMs,
    confidence: line.confidence,
  };
}

function bytesView({ header, played, ignored }: FileBytes): { header: number; played: number; ignored: number } {
  return { header, played, ignored: ignored.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function mediaView(call: Call, server: () => string): View<"Call">["media"] {
  const { message, mediaStatistics } = call;
  const stream = mediaStatistics && streamView(mediaStatistics);
  const kept = {
    ...(call.recordedMs !== null && { recording: recordingView(call, server) }),
    ...(call.sipCallId !== undefined && { sip_call_id: call.sipCallId }),
  };
  switch (message.type) {
    case "FIXED_AUDIO": {
      const { format, durationMs, truncated, bytes } = message;
      return {
        format,
        duration_ms: durationMs,
        truncated,
        ...(bytes && { bytes: bytesView(bytes) }),
        stream,
        ...kept,
      };
    }
    case "FIXED_TTS":
      return { voice_id: message.voiceId, characters: [...message.text].length, stream, ...kept };
    default:
      return stream || Object.keys(kept).length > 0 ? { stream, ...kept } : null;
  }
}

function recordingView({ id, recordedMs }: Call, server: () => string): View<"Recording"> | null {
  return recordedMs ? { duration_ms: recordedMs, url: `${server()}/v1/calls/${id}/recording` } : null;
}

function streamView(statistics: MediaStatistics): View<"StreamStatistics"> {
  return {
    codec: statistics.codec,
    packets_sent: statistics.packetsSent,
    packets_received: statistics.packetsReceived,
    packets_lost: statistics.packetsLost,
    packets_reordered: statistics.packetsReordered,
    packets_duplicated: statistics.packetsDuplicated,
    packets_invalid: statistics.packetsInvalid,
    packets_injected: statistics.packetsInjected ?? null,
    jitter_ms: rounded(statistics.jitterMs, 2),
    round_trip_ms: statistics.roundTripMs === null ? null : rounded(statistics.roundTripMs, 2),
    remote_loss: statistics.remoteLoss === null ? null : rounded(statistics.remoteLoss, 4),
    mos: statistics.mos === null ? null : rounded(statistics.mos, 2),
    held_ms: statistics.heldMs,
  };
}

function intervalView(interval: QualityInterval): View<"QualityInterval"> {
  return {
    until_ms: interval.untilMs,
    packets_sent: interval.packetsSent,
    packets_received: interval.packetsReceived,
    packets_lost: interval.packetsLost,
    jitter_ms: interval.jitterMs,
    round_trip_ms: interval.roundTripMs,
    remote_loss: interval.remoteLoss,
  };
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

/** An instance in a list, or in the response to its creation. Deleted instances are never shown. */
export function instanceView(instance: Instance): View<"Instance"> {
  return {
    id: instance.id,
    name: instance.name,
    status: instance.status as View<"Instance">["status"],
    metadata: instance.metadata,
    ...(instance.callerId && { callerId: { ...instance.callerId } }),
    created_at: timestamp(instance.createdAt),
    updated_at: timestamp(instance.updatedAt),
  };
}

/** An instance in a list, with its line. */
export function connectedInstanceView(instance: ListedInstance): View<"Instance"> {
  return { ...instanceView(instance), connection: connectionView(instance.connection) };
}

/** An instance in the response to a read. */
export function instanceDetailsView(instance: InstanceDetails, withConnection: boolean): View<"InstanceDetails"> {
  const view: View<"InstanceDetails"> = {
    ...instanceView(instance),
    callQueue: instance.callQueue.map(callSummaryView),
  };
  if (withConnection) view.connection = connectionView(instance.connection);
  return view;
}

function connectionView(connection: Connection): View<"Connection"> {
  return {
    state: connection.state,
    phone: connection.phone,
    last_seen_at: maybeTimestamp(connection.lastSeenAt),
    reason: connection.reason,
    condition: connection.condition,
    provider: connection.provider,
    ...(connection.notice && {
      condition_reason: connection.notice.reason,
      condition_until: maybeTimestamp(connection.notice.until),
    }),
    ...(connection.pause && {
      paused_until: timestamp(connection.pause.until),
      pause_reason: connection.pause.reason,
    }),
  };
}

export function eventView(event: NumberedEvent): View<"Event"> {
  return {
    id: event.id,
    type: event.type,
    timestamp: timestamp(event.timestamp),
    call_id: event.callId,
    instance_id: event.instanceId,
    sequence: event.sequence,
    data: event.data,
  } as View<"Event">;
}

/** @param server public URL of the interface, base path included */
export function voiceView(voice: Voice, server: string): View<"Voice"> {
  const { id, language, engine, name, quality } = voice;
  const sample_url = `${server}/v1/voices/${encodeURIComponent(id)}/sample.wav`;
  return { id, language, engine, name, quality, sample_url };
}
