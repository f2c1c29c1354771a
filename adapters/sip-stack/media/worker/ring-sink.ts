import type { FrameSink } from "../../ports.ts";
import { SampleRing } from "./sample-ring.ts";
import { CELL, type SharedCall } from "./shared-call.ts";

/** The worker's end of the inbound audio. Frames without room, during a stall of the main thread, are counted. */
export class RingSink implements FrameSink {
  readonly #ring: SampleRing;
  readonly #cells: Int32Array;

  constructor(shared: SharedCall) {
    this.#ring = new SampleRing(shared.incoming);
    this.#cells = new Int32Array(shared.cells);
  }

  /** What is written from now on comes after the answer. */
  answered(): void {
    Atomics.store(this.#cells, CELL.answeredAt, this.#ring.written);
    Atomics.store(this.#cells, CELL.answered, 1);
  }

  write(frame: Int16Array, received?: Uint8Array): void {
    if (!this.#ring.write(frame, frame.length, received)) Atomics.add(this.#cells, CELL.deaf, frame.length);
  }
}
