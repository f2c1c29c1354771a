import type { FrameSource } from "../../ports.ts";
import { SampleRing } from "./sample-ring.ts";
import { CELL, type SharedCall } from "./shared-call.ts";

/** The worker's end of the outbound audio: the samples that the main thread prepared, or silence. */
export class RingSource implements FrameSource {
  readonly #ring: SampleRing;
  readonly #cells: Int32Array;
  #inboundSince = false;
  #recalled = 0;

  constructor(shared: SharedCall) {
    this.#ring = new SampleRing(shared.outgoing);
    this.#cells = new Int32Array(shared.cells);
  }

  read(frame: Int16Array): number {
    const recalled = Atomics.load(this.#cells, CELL.recalled);
    if (recalled !== this.#recalled) this.#inboundSince = false;
    this.#recalled = recalled;
    const samples = this.#ring.take(frame);
    if (samples === frame.length) {
      this.#inboundSince = true;
      return samples;
    }
    frame.fill(0, samples);
    Atomics.add(this.#cells, CELL.silence, frame.length - samples);
    if (this.#inboundSince || samples > 0) Atomics.add(this.#cells, CELL.ranDry, 1);
    this.#inboundSince = false;
    return samples;
  }
}
