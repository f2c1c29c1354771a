import type { CallTap } from "./program.ts";

/** Two who listen to the same call, in this order. */
export function joinedTaps(first: CallTap, second: CallTap): CallTap {
  return {
    callee: {
      write(frame) {
        first.callee.write(frame);
        second.callee.write(frame);
      },
    },
    sent: {
      played(samples, from, length) {
        first.sent.played(samples, from, length);
        second.sent.played(samples, from, length);
      },
    },
    async lastWords() {
      await Promise.all([first.lastWords?.(), second.lastWords?.()]);
    },
  };
}
