import { signal } from "@preact/signals";
import type { CallStream, StreamEnd, StreamEvent } from "../../../../../src/client/index.ts";
import type { AudioLevels, BrowserCallAudio } from "../../audio/browser-call-audio.ts";

/**
 * Maximum number of 20 ms frames in the send queue; later ones are dropped, so that a slow network adds no lasting
 * delay.
 */
const MAX_PENDING_FRAMES = 25;
const SILENCE: AudioLevels = { heard: 0, spoken: 0 };

/** Phase of a call through the microphone. */
export type LivePhase = "calling" | "ringing" | "talking" | "ended";

/** A call on the server. */
export interface ServerCall {
  readonly id: string;
  /** E.164. */
  readonly number: string;
  /** Attaches to the call's live audio. */
  stream(): Promise<CallStream>;
  hangUp(): Promise<void>;
}

/** This browser's microphone and loudspeaker. */
export interface Headset {
  /** @param onFrame called with every 20 ms of the microphone's audio */
  start(
    onFrame: (samples: Int16Array<ArrayBuffer>) => void,
    onLevels: (levels: AudioLevels) => void,
  ): Pick<BrowserCallAudio, "play">;
  mute(muted: boolean): void;
  /** Releases the microphone. */
  release(): void;
}

/** A DYNAMIC_STREAM call that carries this browser's microphone audio. */
export class MicrophoneCall {
  readonly callId: string;
  readonly number: string;
  readonly phase = signal<LivePhase>("calling");
  /** Time at which the callee answered, RFC 3339. */
  readonly answeredAt = signal<string | undefined>(undefined);
  readonly levels = signal(SILENCE);
  readonly muted = signal(false);
  /** The keys that the callee has pressed. */
  readonly keys = signal("");
  readonly end = signal<StreamEnd | undefined>(undefined);
  /** Error that ended the stream, if it failed. */
  readonly fault = signal<unknown>(undefined);
  readonly #call: ServerCall;
  readonly #headset: Headset;
  #stream: CallStream | undefined;
  #pendingFrames = 0;
  #isHangingUp = false;

  constructor(call: ServerCall, headset: Headset) {
    this.callId = call.id;
    this.number = call.number;
    this.#call = call;
    this.#headset = headset;
  }

  /** Attaches to the call and carries its audio until it has ended. */
  async run(): Promise<void> {
    try {
      const stream = await this.#call.stream();
      this.#stream = stream;
      const audio = this.#headset.start(
        (frame) => this.#send(stream, frame),
        (levels) => {
          this.levels.value = levels;
        },
      );
      const [end] = await Promise.all([stream.ended, this.#follow(stream), this.#play(stream, audio)]);
      this.end.value = end;
    } catch (error) {
      if (!this.#isHangingUp) this.fault.value = error;
    } finally {
      this.phase.value = "ended";
      this.levels.value = SILENCE;
      this.#headset.release();
    }
  }

  /** Mutes or unmutes the microphone. */
  mute(muted: boolean): void {
    this.muted.value = muted;
    this.#headset.mute(muted);
  }

  /** Presses a key for the callee. */
  press(key: string): void {
    this.#stream?.dtmf(key).catch(() => {}); // the call has just ended
  }

  /** Ends the call immediately, without waiting for audio that has yet to reach the callee. */
  async hangUp(): Promise<void> {
    if (this.phase.value === "ended") return;
    this.#isHangingUp = true;
    if (this.#stream === undefined) {
      await this.#call.hangUp();
      return;
    }
    this.#stream.clear().catch(() => {}); // the call has just ended
    await this.#stream.hangUp();
  }

  #send(stream: CallStream, frame: Int16Array<ArrayBuffer>): void {
    if (this.phase.value !== "talking" || this.muted.value || this.#pendingFrames >= MAX_PENDING_FRAMES) return;
    this.#pendingFrames++;
    stream
      .write(frame)
      .catch(() => {}) // `ended` reports it
      .finally(() => {
        this.#pendingFrames--;
      });
  }

  async #follow(stream: CallStream): Promise<void> {
    for await (const event of stream.events()) this.#handle(event);
  }

  async #play(stream: CallStream, audio: Pick<BrowserCallAudio, "play">): Promise<void> {
    for await (const frame of stream.audio()) audio.play(frame);
  }

  #handle(event: StreamEvent): void {
    if (event.type !== "call_event") return;
    if (event.event === "ringing" && this.phase.value === "calling") this.phase.value = "ringing";
    if (event.event === "dtmf") this.keys.value += event.digit;
    if (event.event !== "answered") return;
    this.phase.value = "talking";
    this.answeredAt.value = event.timestamp;
  }
}
