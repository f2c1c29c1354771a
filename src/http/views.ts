import { outcomeView } from "../application/calls/outcomes.ts";
import type { Connection, InstanceDetails } from "../application/use-cases.ts";
import type { Call } from "../domain/call.ts";
import type { Event } from "../domain/events.ts";
import type { Instance } from "../domain/instance.ts";
import type { MediaStatistics } from "../domain/media-statistics.ts";
import type { TranscriptLine } from "../domain/transcript.ts";
import type { Voice } from "../ports/speech.ts";
import type { View } from "./answers.ts";

export const CALL_EXPANSIONS = ["outcome", "transcript", "media"] as const;
export type CallExpansion = (typeof CALL_EXPANSIONS)[number];

/** RFC 3339, UTC, milliseconds, from ms since 1970-01-01 UTC. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

const maybe = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));

/** What a creation answers. */
export function createdCallView(call: Call): View<"CreatedCall"> {
  return {
    id: call.id,
    instance_id: call.instanceId,
    type: call.message.type,
    status: call.status,
    target_phone: call.targetPhone,
    created_at: timestamp(call.createdAt),
  };
}

/**
 * What a read answers, with the objects that were asked for.
 * @param server where the interface is reached, base path included
 * @param said on the call; looked at only where the transcript was asked for
 */
export function callView(
  call: Call,
  server: () => string,
  expand?: ReadonlySet<CallExpansion>,
  said: readonly TranscriptLine[] = [],
): View<"Call"> {
  const view: View<"Call"> = {
    id: call.id,
    instance_id: call.instanceId,
    type: call.message.type,
    status: call.status,
    target_phone: call.targetPhone,
    ...(call.from && { from: { ...call.from } }),
    started_at: maybe(call.startedAt),
    ended_at: maybe(call.endedAt),
    created_at: timestamp(call.createdAt),
  };
  if (!expand) return view;
  if (expand.has("outcome")) view.outcome = call.outcome && outcomeView(call.outcome);
  if (expand.has("transcript")) view.transcript = said.length > 0 ? said.map(transcriptLineView) : null;
  if (expand.has("media")) view.media = mediaView(call, server);
  return view;
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

function mediaView(call: Call, server: () => string): View<"Call">["media"] {
  const { message, mediaStatistics } = call;
  const stream = mediaStatistics && streamView(mediaStatistics);
  const recorded = call.recordedMs === null ? {} : { recording: recordingView(call, server) };
  if (message.type === "FIXED_AUDIO") {
    const { format, durationMs, truncated } = message;
    return { format, duration_ms: durationMs, truncated, stream, ...recorded };
  }
  if (message.type === "FIXED_TTS")
    return { voice_id: message.voiceId, characters: [...message.text].length, stream, ...recorded };
  return stream || call.recordedMs !== null ? { stream, ...recorded } : null;
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

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

/** An instance as lists and creations show it. A deleted one is never shown. */
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

/** An instance as a single read shows it. */
export function instanceDetailsView(instance: InstanceDetails, withConnection: boolean): View<"InstanceDetails"> {
  const view: View<"InstanceDetails"> = {
    ...instanceView(instance),
    callQueue: instance.callQueue.map((call) => ({
      id: call.id,
      type: call.message.type,
      status: call.status,
      target_phone: call.targetPhone,
      created_at: timestamp(call.createdAt),
    })),
  };
  if (withConnection) view.connection = connectionView(instance.connection);
  return view;
}

function connectionView(connection: Connection): View<"Connection"> {
  return {
    state: connection.state,
    phone: connection.phone,
    last_seen_at: maybe(connection.lastSeenAt),
    reason: connection.reason,
    provider: connection.provider,
  };
}

export function eventView(event: Event): View<"Event"> {
  return {
    id: event.id,
    type: event.type,
    timestamp: timestamp(event.timestamp),
    call_id: event.callId,
    instance_id: event.instanceId,
    data: { ...event.data },
  };
}

/** @param server where the interface is reached, base path included */
export function voiceView(voice: Voice, server: string): View<"Voice"> {
  const { id, language, engine, name, quality } = voice;
  const sample_url = `${server}/v1/voices/${encodeURIComponent(id)}/sample.wav`;
  return { id, language, engine, name, quality, sample_url };
}
