import { signal } from "@preact/signals";
import type { CallStream, StreamEnd, StreamEvent } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { type CallAudio, type Levels, loadProcessor, startCallAudio } from "../phone/call-audio.ts";
import { stopMicrophone } from "../phone/microphone.ts";
import processorUrl from "../phone/phone-processor.ts?worklet";
import { keepScreenOn } from "../phone/wake-lock.ts";

/** Rate of the stream, Hz: what networks with wideband voice have. */
const RATE = 16_000;
/** Frames of 20 ms that may wait to be sent; later ones are dropped, so that a slow network adds no lasting delay. */
const MOST_WAITING = 25;

/** Where a call through the microphone is. */
export type LivePhase = "calling" | "ringing" | "talking" | "ended";

/** A DYNAMIC_STREAM call that the microphone of this browser speaks to. */
export class MicrophoneCall {
  readonly callId: string;
  readonly number: string;
  readonly phase = signal<LivePhase>("calling");
  /** When the callee answered, RFC 3339. */
  readonly answeredAt = signal<string | undefined>(undefined);
  readonly levels = signal<Levels>({ heard: 0, spoken: 0 });
  readonly muted = signal(false);
  /** The keys that the callee has pressed. */
  readonly keys = signal("");
  readonly end = signal<StreamEnd | undefined>(undefined);
  /** Why the stream ended, if it failed. */
  readonly fault = signal<unknown>(undefined);
  readonly #microphone: MediaStream;
  readonly #context: AudioContext;
  readonly #screen = keepScreenOn();
  #audio: CallAudio | undefined;
  #stream: CallStream | undefined;
  #waiting = 0;

  /** @param context made by a click of the user, so that the browser lets it play */
  constructor(call: { id: string; target_phone: string }, microphone: MediaStream, context: AudioContext) {
    this.callId = call.id;
    this.number = call.target_phone;
    this.#microphone = microphone;
    this.#context = context;
  }

  /** Attaches to the call and carries its audio until it is over. */
  async run(): Promise<void> {
    try {
      const stream = await client.stream(this.callId, {
        sampleRate: RATE,
        audio: "callee",
      });
      this.#stream = stream;
      await loadProcessor(this.#context, processorUrl);
      this.#audio = startCallAudio({
        context: this.#context,
        callRate: RATE,
        frame: (frame) => this.#speak(stream, frame),
        levels: (levels) => {
          this.levels.value = levels;
        },
      });
      this.#audio.connect?.(this.#microphone);
      const following = this.#follow(stream);
      const playing = this.#play(stream, this.#audio);
      this.end.value = await stream.ended;
      await Promise.all([following, playing]);
    } catch (error) {
      this.fault.value = error;
    } finally {
      this.#release();
    }
  }

  /** Stops sending what the microphone picks up, or goes on. */
  mute(muted: boolean): void {
    this.muted.value = muted;
    for (const track of this.#microphone.getAudioTracks()) track.enabled = !muted;
  }

  /** Presses a key at the callee's end. */
  press(key: string): void {
    this.#stream?.dtmf(key).catch(() => {}); // the call has just ended
  }

  /** Ends the call at once. */
  async hangUp(): Promise<void> {
    if (this.phase.value === "ended") return;
    if (this.#stream === undefined) await client.calls.hangUp(this.callId);
    else {
      this.#stream.clear().catch(() => {}); // what is queued is not worth waiting for
      await this.#stream.hangUp();
    }
  }

  /** The page is left: the call ends. */
  leave(): void {
    void this.hangUp().catch(() => {});
  }

  #speak(stream: CallStream, frame: Int16Array<ArrayBuffer>): void {
    if (this.phase.value !== "talking" || this.muted.value || this.#waiting >= MOST_WAITING) return;
    this.#waiting++;
    stream
      .write(frame)
      .catch(() => {}) // `ended` reports it
      .finally(() => {
        this.#waiting--;
      });
  }

  async #follow(stream: CallStream): Promise<void> {
    for await (const event of stream.events()) this.#take(event);
  }

  async #play(stream: CallStream, audio: CallAudio): Promise<void> {
    for await (const frame of stream.audio()) audio.play(frame);
  }

  #take(event: StreamEvent): void {
    if (event.type !== "call_event") return;
    if (event.event === "ringing" && this.phase.value === "calling") this.phase.value = "ringing";
    if (event.event === "dtmf") this.keys.value += event.digit;
    if (event.event !== "answered") return;
    this.phase.value = "talking";
    this.answeredAt.value = event.timestamp;
  }

  #release(): void {
    this.phase.value = "ended";
    this.levels.value = { heard: 0, spoken: 0 };
    this.#audio?.stop();
    stopMicrophone(this.#microphone);
    this.#screen();
    void this.#context.close();
  }
}
