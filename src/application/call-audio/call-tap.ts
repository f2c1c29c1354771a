import { msToSamples } from "../../audio/pcm.ts";
import type { PlayoutTap } from "../../audio/playout.ts";
import type { FrameSink } from "../../ports/media.ts";

/** Follows the audio of one call. Its methods run within the leg's clock: they do not wait, throw, or keep the array. */
export interface CallTap {
  /** The next audio of the callee, at most 20 ms. */
  inbound?(frame: Int16Array): void;
  /** What the callee hears next: `length` samples of `samples` from `from` on; without samples, that much silence. */
  outbound?(samples: Int16Array | undefined, from: number, length: number): void;
  /** The call is ending: resolves, within a second, when everything that was understood has been delivered. */
  flush?(): Promise<void>;
}

/** A tap that follows one direction. */
type Following<Direction extends "inbound" | "outbound"> = CallTap & Required<Pick<CallTap, Direction>>;

/** Longest piece of the callee's audio that a tap gets, ms: what voice detectors expect, and what decides how soon speech is noticed. */
const PIECE_MS = 20;

/** Passes the audio of one leg to each of its taps, in their order; the frames of the callee in pieces of at most 20 ms. */
export class CallTaps implements FrameSink, PlayoutTap {
  /** Reused for every piece of a longer frame. */
  readonly #piece: Int16Array;
  #taps: readonly CallTap[] = [];
  #inbound: readonly Following<"inbound">[] = [];
  #outbound: readonly Following<"outbound">[] = [];

  /** @param sampleRate of the leg, Hz */
  constructor(sampleRate: number, taps: readonly CallTap[]) {
    this.#piece = new Int16Array(msToSamples(PIECE_MS, sampleRate));
    this.#set(taps);
  }

  /** One more tap follows the audio from now on, until the returned function is called. */
  add(tap: CallTap): () => void {
    this.#set([...this.#taps, tap]);
    return () => this.#set(this.#taps.filter((other) => other !== tap));
  }

  /** Whether any tap follows what the callee hears. */
  get followsOutbound(): boolean {
    return this.#outbound.length > 0;
  }

  write(frame: Int16Array): void {
    const piece = this.#piece;
    if (frame.length <= piece.length) {
      this.#pass(frame);
      return;
    }
    for (let at = 0; at < frame.length; at += piece.length) {
      const length = Math.min(piece.length, frame.length - at);
      for (let i = 0; i < length; i++) piece[i] = frame[at + i]!;
      this.#pass(length === piece.length ? piece : piece.subarray(0, length));
    }
  }

  played(samples: Int16Array | undefined, from: number, length: number): void {
    for (const tap of this.#outbound) tap.outbound(samples, from, length);
  }

  /** Resolves when each tap has delivered what it understood; undefined if no tap has anything to deliver. */
  flush(): Promise<unknown> | undefined {
    const flushing = this.#taps.flatMap((tap) => tap.flush?.() ?? []);
    return flushing.length === 0 ? undefined : Promise.all(flushing);
  }

  #pass(piece: Int16Array): void {
    for (const tap of this.#inbound) tap.inbound(piece);
  }

  #set(taps: readonly CallTap[]): void {
    this.#taps = taps;
    this.#inbound = taps.filter((tap): tap is Following<"inbound"> => tap.inbound !== undefined);
    this.#outbound = taps.filter((tap): tap is Following<"outbound"> => tap.outbound !== undefined);
  }
}
