import type { FrameSink, FrameSource } from "../../../src/ports/media.ts";

/** Options of {@link guardedAudio}. */
export interface AudioGuard {
  /** True if the call has ended; from then on the source is silent, and the sink receives no audio. */
  readonly hasEnded: () => boolean;
  /** Called with every error that the source or the sink throws. */
  readonly onError: (fault: unknown) => void;
}

/** Wraps a source and a sink so that their errors do not reach the media engine. */
export function guardedAudio(
  source: FrameSource,
  sink: FrameSink,
  { hasEnded, onError }: AudioGuard,
): { readonly source: FrameSource; readonly sink: FrameSink } {
  return {
    source: {
      read: (frame) => {
        if (hasEnded()) return silence(frame);
        try {
          return source.read(frame);
        } catch (error) {
          onError(error);
          return silence(frame);
        }
      },
      ahead: source.ahead,
    },
    sink: {
      write: (frame, marks) => {
        if (hasEnded()) return;
        try {
          sink.write(frame, marks);
        } catch (fault) {
          onError(fault);
        }
      },
    },
  };
}

function silence(frame: Int16Array): number {
  frame.fill(0);
  return 0;
}
