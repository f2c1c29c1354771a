/** The silence that a leg sends because its queue is empty, in samples. */
export class PlayoutGaps {
  /** Silence since the queue ran dry, or since the first frame. */
  #gap = 0;
  #underruns = 0;
  /** True if the previous frame was full of audio. */
  #isPlaying = false;

  /** Number of times that the queue ran dry while playing. */
  get underruns(): number {
    return this.#underruns;
  }

  /** Adds silence to the current gap. */
  extend(silence: number): void {
    this.#gap += silence;
  }

  /** Ends the current gap and returns its length; 0 without a gap. */
  end(): number {
    const gap = this.#gap;
    this.#gap = 0;
    return gap;
  }

  /** Counts an underrun reported by the leg. */
  countUnderrun(): void {
    this.#underruns++;
  }

  /**
   * Counts an underrun if this frame is not full during playback.
   * @param hasStarted true if any signal has been played so far
   */
  countFrame(filledSamples: number, length: number, hasStarted: boolean): void {
    const isDry = filledSamples < length;
    if (isDry && hasStarted && (this.#isPlaying || filledSamples > 0)) this.#underruns++;
    this.#isPlaying = !isDry;
  }

  /** Handles a cleared queue: the next empty frame is not an underrun. */
  clear(): void {
    this.#isPlaying = false;
  }
}
