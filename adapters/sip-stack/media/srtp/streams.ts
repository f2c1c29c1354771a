import { Stream } from "./stream.ts";

/** Sources that are remembered; a call has one, or a few when it is transferred. */
const MOST = 32;

/** The sources seen so far, by SSRC. When one more comes than can be remembered, the first is forgotten. */
export class Streams {
  readonly #all = new Map<number, Stream>();
  #last: Stream | undefined;

  find(ssrc: number): Stream | undefined {
    if (this.#last?.ssrc === ssrc) return this.#last;
    const found = this.#all.get(ssrc);
    if (found !== undefined) this.#last = found;
    return found;
  }

  add(ssrc: number): Stream {
    const [oldest] = this.#all.size < MOST ? [] : this.#all.keys();
    if (oldest !== undefined) this.#all.delete(oldest);
    const stream = new Stream(ssrc);
    this.#all.set(ssrc, stream);
    this.#last = stream;
    return stream;
  }
}
