/**
 * The media plane: how samples travel between a leg and a program.
 *
 * The leg owns the clock. It ticks (every 20 ms on SIP, every 60 ms on WhatsApp), pulls the next outgoing frame from a
 * {@link FrameSource} and pushes every received frame into a {@link FrameSink}. Both are synchronous and are called
 * fifty times a second for every call, so neither may allocate, wait, do input or output, or throw. Only the code
 * behind them, such as speech services, uses streams and promises.
 *
 * Samples are always 16-bit signed, one channel, at the leg's rate.
 */

/** The source of the audio that a leg sends. */
export interface FrameSource {
  /**
   * Fills the whole frame with the next samples and returns how many of them were signal.
   *
   * The leg owns the array and reuses it; the source must not keep it. The source fills the rest with zeros,
   * so the frame is always ready to be encoded. The result is a count from 0 to `frame.length`, not a
   * position: 0 means that the frame is silence and that the leg may send comfort noise in its place. Pulling counts
   * as playing: the leg pulls a frame once, and only when it is about to hand it to the network.
   */
  read(frame: Int16Array): number;
  /** Source for legs that send audio from another thread. Without it they pull due frames with `read`. */
  readonly ahead?: AheadSource | undefined;
}

/**
 * A source that can be pulled ahead of the network, so that sending does not wait for this thread. Pulled samples count
 * as played only when the leg reports them as sent. A leg uses this or `read`, never both.
 */
export interface AheadSource {
  /**
   * Copies the next samples, signal and timed silence alike, to the start of the frame and returns their number, which
   * is fewer than the frame if no more are available. It does not pad, so that later samples are not late.
   */
  pull(frame: Int16Array): number;
  /**
   * Called by the leg every 20 ms while it sends: since the last report it has sent `samples` pulled samples, and
   * `silence` samples for lack of any. `hasRunDry`: samples were lacking after signal, and not because of a recall.
   */
  sent(samples: number, silence: number, hasRunDry: boolean): void;
  /**
   * Set by the leg. The source calls it to drop the pulled samples that have not been sent yet: the leg reports through
   * `sent` what it has sent up to now, and sends none of the rest.
   */
  recall: (() => void) | undefined;
}

/** The values of the array `received` of {@link FrameSink.write}. */
export const SAMPLE = {
  /** Concealed by the leg: the remote side sent nothing, or its packets are lost or late. */
  filledIn: 0,
  /** Received, even if the leg has changed its speed or rate. */
  received: 1,
  /** The first received sample after the remote side has paused: the samples filled in before it represent silence. */
  afterPause: 2,
} as const;

/** The sink of the audio that a leg receives. */
export interface FrameSink {
  /**
   * Receives one frame.
   *
   * The arrays are only valid until the method returns, because the leg reuses them: copy what you keep. Frames arrive
   * in order and without gaps, because the leg fills network gaps; counting samples therefore gives the time.
   *
   * Keys, speech, beeps and words are detected in received samples only: concealed audio resembles the audio before it,
   * so a tone would seem to be played twice.
   *
   * @param received one value of {@link SAMPLE} for each sample; omitted if the whole frame was received
   */
  write(frame: Int16Array, received?: Uint8Array): void;
}

/** A piece of one-channel audio. */
export interface PcmChunk {
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  /** 16-bit signed samples, one channel. */
  readonly samples: Int16Array;
}

/** A whole audio file as samples, at the rate of the file. */
export interface DecodedAudio extends PcmChunk {
  /** True if the file declares more audio than it contains; the samples are all that it contains. */
  readonly truncated: boolean;
}
