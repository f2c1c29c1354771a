import type { TranscriptionEvent } from "../../src/ports/transcription.ts";

/** What an engine has said, in order for one reader, kept until it is read. */
export class HeardEvents implements AsyncIterable<TranscriptionEvent> {
  readonly #waiting: TranscriptionEvent[] = [];
  #over = false;
  #wake: () => void = () => {};

  /** After {@link end} nothing is added. */
  say(event: TranscriptionEvent): void {
    if (this.#over) return;
    this.#waiting.push(event);
    this.#wake();
  }

  /** What has been said is still read, then the iteration is over. */
  end(): void {
    this.#over = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TranscriptionEvent, void, void> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) yield event;
      else if (this.#over) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
