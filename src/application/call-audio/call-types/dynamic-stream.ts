import { CallTranscripts, type TranscriptReader } from "../transcripts/call-transcripts.ts";
import { type LiveProgram, ProgramFailed } from "./call-type-program.ts";

/** DYNAMIC_STREAM: an outside client supplies the outgoing audio and receives the callee's audio. */
export const stream: LiveProgram = {
  kind: "live",
  isStreamed: true,
  playedReason: "message_played",
  check({ streamPreview }) {
    if (!streamPreview)
      throw new ProgramFailed("stream_unavailable", "live audio streams are a preview and switched off on this server");
  },
  connect(context, call, { leg, playout, words }) {
    const stream = context.streams.find(call.id);
    if (stream === undefined) return { taps: [] };
    stream.connect(leg, playout);
    const reader: TranscriptReader = {
      transcript(transcript) {
        if (transcript.speaker === "callee") words(transcript.text);
        stream.transcript(transcript);
      },
      emit: (event, data) => stream.emit(event, data),
    };
    return { taps: [stream, new CallTranscripts(context, call, reader, leg.sampleRate)] };
  },
};
