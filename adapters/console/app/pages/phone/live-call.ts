import { type Signal, signal } from "@preact/signals";
import {
  type AudioLevels,
  type BrowserCallAudio,
  startCallAudio,
  startPlaybackOnly,
} from "../../audio/browser-call-audio.ts";
import { askForMicrophone, type MicrophoneState, stopMicrophone } from "../../audio/microphone.ts";
import { keepScreenOn } from "../../audio/wake-lock.ts";

const SILENCE: AudioLevels = { heard: 0, spoken: 0 };

/** Options of {@link LiveCall}. */
export interface LiveCallOptions {
  readonly context: AudioContext;
  /** Sample rate of the audio, Hz. */
  readonly callRate: number;
  /** Resolves with true if the processor has been loaded into the context. */
  readonly processor: Promise<boolean>;
  /** Called with each frame from the microphone. */
  readonly onFrame: (frame: Int16Array<ArrayBuffer>) => void;
}

/** The audio of the call that this phone has answered. */
export class LiveCall {
  readonly levels: Signal<AudioLevels> = signal(SILENCE);
  readonly microphone: Signal<MicrophoneState> = signal<MicrophoneState>("asking");
  readonly muted: Signal<boolean> = signal(false);
  #audio: BrowserCallAudio | undefined;
  readonly #releaseScreen = keepScreenOn();
  #stream: MediaStream | undefined;
  #isEnded = false;

  constructor(options: LiveCallOptions) {
    void this.#start(options);
  }

  /** Plays the caller's next audio. */
  play(samples: Int16Array<ArrayBuffer>): void {
    this.#audio?.play(samples);
  }

  mute(muted: boolean): void {
    this.muted.value = muted;
    for (const track of this.#stream?.getTracks() ?? []) track.enabled = !muted;
  }

  /** Stops the audio, and releases the microphone. */
  end(): void {
    this.#isEnded = true;
    this.#audio?.stop();
    this.#releaseScreen();
    if (this.#stream) stopMicrophone(this.#stream);
  }

  async #start({ context, callRate, processor, onFrame }: LiveCallOptions): Promise<void> {
    const start = (await processor) ? startCallAudio : startPlaybackOnly;
    if (this.#isEnded) return;
    this.#audio = start({
      context,
      callRate,
      onFrame: (samples) => {
        if (!this.muted.value) onFrame(samples);
      },
      onLevels: (levels) => {
        this.levels.value = levels;
      },
    });
    await this.#connect(this.#audio);
  }

  async #connect(audio: BrowserCallAudio): Promise<void> {
    const result = audio.connect ? await askForMicrophone() : isSecureContext ? "missing" : "insecure";
    if (!(result instanceof MediaStream)) {
      this.microphone.value = result;
      return;
    }
    // The call may have ended while the browser was asking for permission.
    if (this.#isEnded) {
      stopMicrophone(result);
      return;
    }
    this.#stream = result;
    this.mute(this.muted.value);
    audio.connect?.(result);
    this.microphone.value = "on";
    // The microphone was unplugged, or its permission withdrawn.
    for (const track of result.getTracks())
      track.onended = () => {
        this.microphone.value = "missing";
      };
  }
}
