import type { AheadSource, FrameSource } from "../../../../src/ports/media.ts";

/** The read-ahead of a source. A source without one is wrapped: its samples count as played once read, and its frames are padded. */
export function aheadOf(source: FrameSource): AheadSource {
  return source.ahead ?? new ReadAhead(source);
}

class ReadAhead implements AheadSource {
  recall: (() => void) | undefined;
  readonly #source: FrameSource;

  constructor(source: FrameSource) {
    this.#source = source;
  }

  pull(frame: Int16Array): number {
    this.#source.read(frame);
    return frame.length;
  }

  sent(): void {}
}
