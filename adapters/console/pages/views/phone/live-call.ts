import { type Signal, signal } from "@preact/signals";
import { type AudioLevels, type BrowserCallAudio, startCallAudio, startPlaybackOnly } from "../../audio/call-audio.ts";
import { askForMicrophone, type MicrophoneState, stopMicrophone } from "../../audio/microphone.ts";
import { keepScreenOn } from "../../audio/wake-lock.ts";

const SILENCE: AudioLevels = { heard: 0, spoken: 0 };

/** Options of {@link LiveCall}. */
export interface LiveCallOptions {
  readonly context: AudioContext;
  /** Sample rate of the audio, Hz. */
  readonly callRate: number;
  /** True if the processor is loaded into the context, once that is known. */
  readonly processor: Promise<boolean>;
  /** Called with each frame of the microphone. */
  readonly frame: (frame: Int16Array<ArrayBuffer>) => void;
}

/** The audio of the call that this phone has answered, from the answer to the end. */
export class LiveCall {
  readonly levels: Signal<AudioLevels> = signal(SILENCE);
  readonly microphone: Signal<MicrophoneState> = signal<MicrophoneState>("asking");
  readonly muted: Signal<boolean> = signal(false);
  #audio: BrowserCallAudio | undefined;
  readonly #screen = keepScreenOn();
  #stream: MediaStream | undefined;
  #ended = false;

  constructor(options: LiveCallOptions) {
    void this.#start(options);
  }

  /** Plays the next audio of the caller. */
  play(samples: Int16Array<ArrayBuffer>): void {
    this.#audio?.play(samples);
  }

  mute(muted: boolean): void {
    this.muted.value = muted;
    for (const track of this.#stream?.getTracks() ?? []) track.enabled = !muted;
  }

  /** Stops the audio, and releases the microphone. */
  end(): void {
    this.#ended = true;
    this.#audio?.stop();
    this.#screen();
    if (this.#stream) stopMicrophone(this.#stream);
  }

  async #start({ context, callRate, processor, frame }: LiveCallOptions): Promise<void> {
    const start = (await processor) ? startCallAudio : startPlaybackOnly;
    if (this.#ended) return;
    this.#audio = start({
      context,
      callRate,
      frame: (samples) => {
        if (!this.muted.value) frame(samples);
      },
      levels: (levels) => {
        this.levels.value = levels;
      },
    });
    await this.#connect(this.#audio);
  }

  async #connect(audio: BrowserCallAudio): Promise<void> {
    const answer = audio.connect ? await askForMicrophone() : isSecureContext ? "missing" : "insecure";
    if (!(answer instanceof MediaStream)) {
      this.microphone.value = answer;
      return;
    }
    // The call may have ended while the browser asked for permission.
    if (this.#ended) {
      stopMicrophone(answer);
      return;
    }
    this.#stream = answer;
    this.mute(this.muted.value);
    audio.connect?.(answer);
    this.microphone.value = "on";
    // It was unplugged, or the user has withdrawn the permission.
    for (const track of answer.getTracks())
      track.onended = () => {
        this.microphone.value = "missing";
      };
  }
}
