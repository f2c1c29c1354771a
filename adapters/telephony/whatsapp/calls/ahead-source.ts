import type { AheadSource, FrameSource } from "../../../../src/ports/media.ts";

/** A source that is pulled ahead. A client that cannot counts what is pulled as played, and pads its frames itself. */
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
