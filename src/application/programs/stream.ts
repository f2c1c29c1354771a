import { type Program, ProgramFailed } from "./program.ts";

/** DYNAMIC_STREAM: accepted and stored; live streams are not carried yet, and nobody's phone rings for nothing. */
export const stream: Program = {
  check() {
    throw new ProgramFailed("stream_unavailable", "live audio streams are not available on this server");
  },
  async *message() {},
};
