import { type Program, ProgramFailed } from "./program.ts";

/** DYNAMIC_STREAM: a client outside says what the callee hears, and hears the callee, for as long as it likes. */
export const stream: Program = {
  check({ streamPreview }) {
    if (!streamPreview)
      throw new ProgramFailed("stream_unavailable", "live audio streams are a preview and switched off on this server");
  },
  live({ streams }, call, { leg, playout }) {
    const stream = streams.find(call.id);
    stream?.connect(leg, playout);
    return stream && { callee: stream.callee, sent: stream };
  },
};
