import { CallTranscripts } from "../transcripts/call-transcripts.ts";
import { joinedTaps } from "./joined-taps.ts";
import { type Program, ProgramFailed } from "./program.ts";

/** DYNAMIC_STREAM: a client outside says what the callee hears, and hears the callee, for as long as it likes. */
export const stream: Program = {
  check({ streamPreview }) {
    if (!streamPreview)
      throw new ProgramFailed("stream_unavailable", "live audio streams are a preview and switched off on this server");
  },
  live(context, call, { leg, playout }) {
    const stream = context.streams.find(call.id);
    if (stream === undefined) return undefined;
    stream.connect(leg, playout);
    const transcripts = new CallTranscripts(context, call, stream, leg.sampleRate);
    return joinedTaps({ callee: stream.callee, sent: stream }, transcripts);
  },
};
