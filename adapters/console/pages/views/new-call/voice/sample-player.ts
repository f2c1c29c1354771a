import { type ReadonlySignal, signal } from "@preact/signals";

/** A sample and its state. */
export interface CurrentSample {
  readonly voiceId: string;
  readonly phase: "loading" | "playing" | "failed";
}

/** Starts to play a WAV file, and calls `onEnd` at its end. @returns stops it, and releases what it takes */
type PlaySound = (wav: Uint8Array<ArrayBuffer>, onEnd: () => void) => Promise<() => void>;

/** Plays samples of voices, one at a time. */
export class SamplePlayer {
  /** The sample that is loading or playing, or that has failed; undefined after one has ended. */
  readonly current: ReadonlySignal<CurrentSample | undefined>;
  readonly #current = signal<CurrentSample | undefined>(undefined);
  readonly #load: (voiceId: string, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>;
  readonly #play: PlaySound;
  #turn = new AbortController();

  constructor(
    load: (voiceId: string, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>,
    play: PlaySound = playSound,
  ) {
    this.current = this.#current;
    this.#load = load;
    this.#play = play;
  }

  /** Plays the sample of a voice in place of the current one. */
  async play(voiceId: string): Promise<void> {
    this.stop();
    const turn = new AbortController();
    this.#turn = turn;
    this.#current.value = { voiceId, phase: "loading" };
    try {
      const wav = await this.#load(voiceId, turn.signal);
      if (turn.signal.aborted) return;
      const stop = await this.#play(wav, () => {
        if (this.#turn === turn) this.stop();
      });
      if (turn.signal.aborted) return stop();
      turn.signal.addEventListener("abort", stop);
      this.#current.value = { voiceId, phase: "playing" };
    } catch {
      if (!turn.signal.aborted) this.#current.value = { voiceId, phase: "failed" };
    }
  }

  /** Stops the current sample, even while it loads. */
  stop(): void {
    this.#turn.abort();
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
