import type { PlayoutTap } from "../../audio/playout/playout.ts";
import { msToSamples } from "../../audio/samples/pcm.ts";
import { type FrameSink, SAMPLE } from "../../ports/media.ts";

/** Follows the audio of one call. Its methods run on the leg's clock: they do not wait, throw, or keep the array. */
export interface CallTap {
  /**
   * The next audio of the callee, at most 20 ms.
   *
   * @param frame the audio as a listener hears it: the leg has concealed missing audio
   * @param received the same with silence in place of missing audio, for all conclusions about the callee
   * @param marks a value of {@link SAMPLE} for each sample; undefined if all of the frame was received, and no pause
   *   precedes it
   */
  inbound?(frame: Int16Array, received: Int16Array, marks: Uint8Array | undefined): void;
  /** Next audio for the callee: `length` samples of `samples` from `from` on; without samples, that much silence. */
  outbound?(samples: Int16Array | undefined, from: number, length: number): void;
  /** Called when the call ends: resolves, within a second, when everything transcribed has been delivered. */
  flush?(): Promise<void>;
}

/** A tap that follows one direction. */
type Following<Direction extends "inbound" | "outbound"> = CallTap & Required<Pick<CallTap, Direction>>;

/**
 * Longest piece of the callee's audio passed to a tap, ms: voice detectors expect this length, and it determines how
 * soon speech is detected.
 */
const PIECE_MS = 20;

/**
 * Passes the audio of one leg to each of its taps, in their order. The callee's frames are passed in pieces of at most
 * 20 ms.
 */
export class CallTaps implements FrameSink, PlayoutTap {
  /** Reused for the pieces of longer frames and for their received samples. */
  readonly #piece: Int16Array;
  readonly #pieceMarks: Uint8Array;
  readonly #receivedPiece: Int16Array;
  #taps: readonly CallTap[] = [];
  #inbound: readonly Following<"inbound">[] = [];
  #outbound: readonly Following<"outbound">[] = [];

  /** @param sampleRate sample rate of the leg, Hz */
  constructor(sampleRate: number, taps: readonly CallTap[]) {
    this.#piece = new Int16Array(msToSamples(PIECE_MS, sampleRate));
    this.#pieceMarks = new Uint8Array(this.#piece.length);
    this.#receivedPiece = new Int16Array(this.#piece.length);
    this.#setTaps(taps);
  }

  /** Adds a tap until the returned function is called. */
  add(tap: CallTap): () => void {
    this.#setTaps([...this.#taps, tap]);
    return () => this.#setTaps(this.#taps.filter((other) => other !== tap));
  }

  /** True if any tap follows what the callee hears. */
  get followsOutbound(): boolean {
    return this.#outbound.length > 0;
  }

  write(frame: Int16Array, marks?: Uint8Array): void {
    const piece = this.#piece;
    const pieceMarks = this.#pieceMarks;
    if (frame.length <= piece.length) {
      this.#pass(frame, marks);
      return;
    }
    for (let at = 0; at < frame.length; at += piece.length) {
      const length = Math.min(piece.length, frame.length - at);
      for (let i = 0; i < length; i++) piece[i] = frame[at + i]!;
      if (marks !== undefined) for (let i = 0; i < length; i++) pieceMarks[i] = marks[at + i]!;
      this.#pass(length === piece.length ? piece : piece.subarray(0, length), marks && pieceMarks);
    }
  }

  onPlayed(samples: Int16Array | undefined, from: number, length: number): void {
    for (const tap of this.#outbound) tap.outbound(samples, from, length);
  }

  /** Resolves when each tap has delivered its results; returns undefined if no tap has any. */
  flush(): Promise<unknown> | undefined {
    const flushes = this.#taps.flatMap((tap) => tap.flush?.() ?? []);
    return flushes.length === 0 ? undefined : Promise.all(flushes);
  }

  #pass(piece: Int16Array, marks: Uint8Array | undefined): void {
    const isPlain = marks === undefined || allReceived(marks, piece.length);
    const received = isPlain ? piece : this.#receivedSamples(piece, marks);
    for (const tap of this.#inbound) tap.inbound(piece, received, isPlain ? undefined : marks);
  }

  #receivedSamples(piece: Int16Array, marks: Uint8Array): Int16Array {
    const received = this.#receivedPiece;
    for (let i = 0; i < piece.length; i++) received[i] = marks[i] === SAMPLE.filledIn ? 0 : piece[i]!;
    return piece.length === received.length ? received : received.subarray(0, piece.length);
  }

  #setTaps(taps: readonly CallTap[]): void {
    this.#taps = taps;
    this.#inbound = taps.filter((tap): tap is Following<"inbound"> => tap.inbound !== undefined);
    this.#outbound = taps.filter((tap): tap is Following<"outbound"> => tap.outbound !== undefined);
  }
}

/** True if all of a piece was received, without a pause before it. */
function allReceived(marks: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i++) if (marks[i] !== SAMPLE.received) return false;
  return true;
}
