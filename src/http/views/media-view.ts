import * as v from "valibot";
import type { Call as StoredCall } from "../../domain/calls/call.ts";
import type { FileBytes as FileUse } from "../../domain/calls/file-bytes.ts";
import type { MediaStatistics } from "../../domain/calls/media-statistics.ts";
import type { QualityInterval as Interval } from "../../domain/calls/quality-series.ts";
import type { View } from "../response-types.ts";
import { count, milliseconds, shape, share } from "./shape.ts";

export const streamStatisticsShape = shape("Statistics of a call's audio on the network, counted on our side.", {
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
  held_ms: v.pipe(v.number(), v.minValue(0), v.description("Time the remote side kept the call on hold, ms.")),
});

export const qualityIntervalShape = shape("Statistics of a call's audio during one interval, counted on our side.", {
  until_ms: v.pipe(
    milliseconds,
    v.description(
      "The end of the interval, from the connection of the call; it begins at the end of the previous interval.",
    ),
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

export const callQualityShape = shape("Quality of a call's audio over time.", {
  intervals: v.pipe(
    v.array(qualityIntervalShape),
    v.description(
      "Oldest first, fewer than 120: 5 s each at first, longer in long calls; the last one may be shorter.",
    ),
  ),
});

const stream = v.pipe(
  v.nullable(streamStatisticsShape),
  v.description("Statistics of the audio on the network; null until the call has ended, or if the network has none."),
);

export const recordingShape = shape("The recording of a call.", {
  duration_ms: milliseconds,
  url: v.pipe(v.string(), v.description("Address of the WAV file, for the same token.")),
});

const recording = v.optional(
  v.pipe(
    v.nullable(recordingShape),
    v.description("Present if the call is to be recorded; null until the call has ended, or if nothing was kept."),
  ),
);

const bytes = v.pipe(v.number(), v.integer(), v.minValue(0));

export const fileBytesShape = shape("The bytes of an audio file by their use; their sum is its size.", {
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

export const audioMediaShape = shape("The media of a call that plays an audio file.", {
  format: v.picklist(["wav", "mp3"]),
  duration_ms: milliseconds,
  truncated: v.pipe(v.boolean(), v.description("True if the file is truncated: it is shorter than its header states.")),
  bytes: v.optional(fileBytesShape),
  audio_id: v.optional(v.pipe(v.string(), v.description("The stored file that the call named."))),
  stream,
  recording,
  sip_call_id,
});

export const speechMediaShape = shape("The media of a call that speaks a text.", {
  voice_id: v.string(),
  characters: v.pipe(v.number(), v.integer(), v.minValue(1)),
  stream,
  recording,
  sip_call_id,
});

export const liveMediaShape = shape("The media of a call without a fixed message.", { stream, recording, sip_call_id });

export function mediaView(call: StoredCall, server: () => string): View<"Call">["media"] {
  const { message, mediaStatistics } = call;
  const stream = mediaStatistics && streamView(mediaStatistics);
  const details = {
    ...(call.recordedMs !== null && { recording: recordingView(call, server) }),
    ...(call.sipCallId !== undefined && { sip_call_id: call.sipCallId }),
  };
  switch (message.type) {
    case "FIXED_AUDIO": {
      const { format, durationMs, truncated, bytes, audioId } = message;
      return {
        format,
        duration_ms: durationMs,
        truncated,
        ...(bytes && { bytes: bytesView(bytes) }),
        ...(audioId !== undefined && { audio_id: audioId }),
        stream,
        ...details,
      };
    }
    case "FIXED_TTS":
      return { voice_id: message.voiceId, characters: [...message.text].length, stream, ...details };
    default:
      return stream || Object.keys(details).length > 0 ? { stream, ...details } : null;
  }
}

function bytesView({ header, played, ignored }: FileUse): { header: number; played: number; ignored: number } {
  return { header, played, ignored: ignored.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function recordingView({ id, recordedMs }: StoredCall, server: () => string): View<"Recording"> | null {
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
    jitter_ms: round(statistics.jitterMs, 2),
    round_trip_ms: statistics.roundTripMs === null ? null : round(statistics.roundTripMs, 2),
    remote_loss: statistics.remoteLoss === null ? null : round(statistics.remoteLoss, 4),
    mos: statistics.mos === null ? null : round(statistics.mos, 2),
    held_ms: statistics.heldMs,
  };
}

export function intervalView(interval: Interval): View<"QualityInterval"> {
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

function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
