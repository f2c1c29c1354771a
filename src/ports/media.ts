/**
 * The media plane: how samples travel between a leg and a program.
 *
 * The leg owns the clock. It ticks (every 20 ms on SIP, every 60 ms on WhatsApp), pulls the next outgoing frame from a
 * {@link FrameSource} and pushes every received frame into a {@link FrameSink}. Both are synchronous and are called
 * fifty times a second for every call, so neither may allocate, wait, do input or output, or throw. Streams and
 * promises begin behind them, where speech services begin.
 *
 * Samples are always 16-bit signed, one channel, at the rate the leg names.
 */

/** Where a leg pulls the audio that it sends. */
export interface FrameSource {
  /**
   * Fills the whole frame with the next samples and returns how many of them were signal.
   *
   * The leg owns the array and reuses it; the source must not keep it. What the source has no signal for, it fills
   * with zeros, so the frame is always ready to be encoded. The result is a count from 0 to `frame.length`, not a
   * position: 0 means that the frame is silence and that the leg may send comfort noise in its place. Pulling counts
   * as playing: the leg pulls a frame once, and only when it is about to hand it to the network.
   */
  read(frame: Int16Array): number;
  /** How a leg pulls whose audio leaves from another thread. Without it such a leg pulls by `read`, a frame when it is due. */
  readonly ahead?: AheadSource | undefined;
}

/**
 * A source that can be pulled ahead of the network, so that what is being sent does not wait for this thread. What was
 * pulled counts as played when the leg says that it was sent, and not before. A leg uses this or `read`, never both.
 */
export interface AheadSource {
  /**
   * Copies what comes next, signal and timed silence alike, to the start of the frame and returns how many samples that
   * was: less than the frame where there is no more for now. It does not fill up, so that what comes later is not late.
   */
  pull(frame: Int16Array): number;
  /**
   * Since this was said last, `samples` of those pulled have been sent, and `silence` samples for want of any. Said every
   * 20 ms while the leg sends. `ranDry`: there was a want after signal, and nobody had recalled the rest.
   */
  sent(samples: number, silence: number, ranDry: boolean): void;
  /**
   * The leg's: the source calls it when the rest of what was pulled is not to be sent any more. It says by `sent` what was
   * sent up to this moment, and from then on nothing of the rest is.
   */
  recall: (() => void) | undefined;
}

/** Where a leg pushes the audio that it receives. */
export interface FrameSink {
  /**
   * Takes one received frame.
   *
   * The array is only valid during the call, because the leg reuses it: copy what must be kept. Frames arrive in
   * order and without gaps, since the leg fills what the network lost; counting samples therefore gives the time.
   */
  write(frame: Int16Array): void;
}

/** A piece of one-channel audio. */
export interface PcmChunk {
  /** Samples per second. */
  readonly sampleRate: number;
  /** 16-bit signed samples, one channel. */
  readonly samples: Int16Array;
}

/** A whole audio file as samples, at the rate of the file. */
export interface DecodedAudio extends PcmChunk {
  /** True when the file promised more audio than it held. What it held is all here. */
  readonly truncated: boolean;
}
