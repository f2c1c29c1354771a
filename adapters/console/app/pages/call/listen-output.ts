import workletUrl from "./listen-worklet.ts?worklet";

/** Plays a listener's audio, muted until {@link ListenOutput.muted} is false. */
export class ListenOutput {
  readonly #context = new AudioContext();
  readonly #gain: GainNode;
  #node: AudioWorkletNode | undefined;
  #isClosed = false;

  /** Creates the output. Call this only in a click handler: otherwise browsers block sound. */
  constructor() {
    this.#gain = this.#context.createGain();
    this.#gain.gain.value = 0;
    this.#gain.connect(this.#context.destination);
  }

  /** True if this page may play live audio: browsers allow that over HTTPS, and for pages from this machine. */
  get canPlay(): boolean {
    return this.#context.audioWorklet !== undefined;
  }

  set muted(muted: boolean) {
    this.#gain.gain.value = muted ? 0 : 1;
    void this.#context.resume();
  }

  /** Starts the audio. @param callRate Hz */
  async start(callRate: number): Promise<void> {
    if (!this.canPlay) return;
    await this.#context.audioWorklet.addModule(workletUrl);
    if (this.#isClosed) return;
    this.#node?.disconnect();
    this.#node = new AudioWorkletNode(this.#context, "ringport-listen", {
      numberOfInputs: 0,
      outputChannelCount: [2],
      processorOptions: { callRate },
    });
    this.#node.connect(this.#gain);
  }

  /** Plays the next samples; transfers their buffer. */
  write(samples: Int16Array<ArrayBuffer>): void {
    this.#node?.port.postMessage(samples, [samples.buffer]);
  }

  close(): void {
    this.#isClosed = true;
    void this.#context.close();
  }
}
