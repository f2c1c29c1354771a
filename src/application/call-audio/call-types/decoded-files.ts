/**
 * Decoded audio files, shared by their content: calls with the same file play the same samples. They are kept for as
 * long as a call uses them.
 */
export class DecodedFiles {
  readonly #samples = new Map<string, WeakRef<Int16Array>>();
  readonly #registry = new FinalizationRegistry<string>((key) => {
    if (this.#samples.get(key)?.deref() === undefined) this.#samples.delete(key);
  });

  /** Number of files known, including those whose samples were freed a moment ago. */
  get size(): number {
    return this.#samples.size;
  }

  /**
   * The samples of a file that a call uses; undefined if there are none.
   * @param sha256 hash of the file; undefined if unknown
   */
  find(sha256: string | undefined, sampleRate: number): Int16Array | undefined {
    return this.#samples.get(keyOf(sha256, sampleRate))?.deref();
  }

  /** The samples to use for a file that was just decoded: another call's, if there are any. Do not write to them. */
  share(sha256: string | undefined, sampleRate: number, samples: Int16Array): Int16Array {
    if (sha256 === undefined) return samples;
    const sharedSamples = this.find(sha256, sampleRate);
    if (sharedSamples) return sharedSamples;
    const key = keyOf(sha256, sampleRate);
    this.#samples.set(key, new WeakRef(samples));
    this.#registry.register(samples, key);
    return samples;
  }
}

function keyOf(sha256: string | undefined, sampleRate: number): string {
  return `${sha256} ${sampleRate}`;
}
