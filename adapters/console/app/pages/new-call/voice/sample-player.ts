import { type ReadonlySignal, signal } from "@preact/signals";

/** A sample and its state. */
export interface CurrentSample {
  readonly voiceId: string;
  readonly phase: "loading" | "playing" | "failed";
}

/**
 * Starts playing a WAV file, and calls `onEnd` when it ends.
 * @returns a function that stops playing and releases all resources
 */
type PlaySound = (wav: Uint8Array<ArrayBuffer>, onEnd: () => void) => Promise<() => void>;

/** Plays voice samples, one at a time. */
export class SamplePlayer {
  /** The sample that is loading or playing, or that has failed; otherwise undefined. */
  readonly current: ReadonlySignal<CurrentSample | undefined>;
  readonly #current = signal<CurrentSample | undefined>(undefined);
  readonly #load: (voiceId: string, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>;
  readonly #play: PlaySound;
  #scope = new AbortController();

  constructor(
    load: (voiceId: string, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>,
    play: PlaySound = playSound,
  ) {
    this.current = this.#current;
    this.#load = load;
    this.#play = play;
  }

  /** Plays a voice's sample in place of the current one. */
  async play(voiceId: string): Promise<void> {
    this.stop();
    const scope = new AbortController();
    this.#scope = scope;
    this.#current.value = { voiceId, phase: "loading" };
    try {
      const wav = await this.#load(voiceId, scope.signal);
      if (scope.signal.aborted) return;
      const stop = await this.#play(wav, () => {
        if (this.#scope === scope) this.stop();
      });
      if (scope.signal.aborted) return stop();
      scope.signal.addEventListener("abort", stop);
      this.#current.value = { voiceId, phase: "playing" };
    } catch {
      if (!scope.signal.aborted) this.#current.value = { voiceId, phase: "failed" };
    }
  }

  /** Stops the current sample, even while it is loading. */
  stop(): void {
    this.#scope.abort();
    this.#current.value = undefined;
  }
}

async function playSound(wav: Uint8Array<ArrayBuffer>, onEnd: () => void): Promise<() => void> {
  const url = URL.createObjectURL(new Blob([wav], { type: "audio/wav" }));
  const audio = new Audio(url);
  const stop = (): void => {
    audio.pause();
    URL.revokeObjectURL(url);
  };
  audio.addEventListener("ended", onEnd);
  try {
    await audio.play();
    return stop;
  } catch (error) {
    stop();
    throw error;
  }
}
