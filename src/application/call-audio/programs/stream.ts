import { CallTranscripts } from "../transcripts/call-transcripts.ts";
import { type LiveProgram, ProgramFailed } from "./program.ts";

/** DYNAMIC_STREAM: an outside client supplies the outgoing audio and receives the callee's audio. */
export const stream: LiveProgram = {
  kind: "live",
  streamed: true,
  playedReason: "message_played",
  check({ streamPreview }) {
    if (!streamPreview)
      throw new ProgramFailed("stream_unavailable", "live audio streams are a preview and switched off on this server");
  },
  connect(context, call, { leg, playout }) {
    const stream = context.streams.find(call.id);
    if (stream === undefined) return { taps: [] };
    stream.connect(leg, playout);
    return { taps: [stream, new CallTranscripts(context, call, stream, leg.sampleRate)] };
  },
};
