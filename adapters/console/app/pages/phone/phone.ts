import { type Signal, signal } from "@preact/signals";
import type { PhoneCommand } from "../../../../telephony/simulator/phones/phone-message.ts";
import { loadProcessor } from "../../audio/browser-call-audio.ts";
import processor from "../../audio/call-processor.ts?worklet";
import { CONSOLE } from "../../shell/place.ts";
import { alertUser } from "./alerts.ts";
import { LiveCall } from "./live-call.ts";
import { PhoneConnection } from "./phone-connection.ts";
import { nextPhoneState, type PhoneInput, type PhoneState } from "./phone-state.ts";
import { playKey } from "./ringer.ts";

/** A phone open in this page, with its connection, state and sound. */
export class Phone {
  readonly state: Signal<PhoneState> = signal<PhoneState>({ name: "connecting" });
  /** The audio of the answered call. */
  readonly liveCall: Signal<LiveCall | undefined> = signal(undefined);
  /** True until the user touches the page, because browsers play no sound before that. */
  readonly isSilenced: Signal<boolean> = signal(false);
  readonly #context = new AudioContext();
  readonly #url: string;
  #connection: PhoneConnection;
  readonly #processor = loadProcessor(this.#context, processor);
  #stopAlert: (() => void) | undefined;

  constructor(number: string) {
    const url = new URL(`${CONSOLE}/simulator/phones/${encodeURIComponent(number)}`, location.href);
    this.#url = url.href.replace(/^http/, "ws");
    this.#connection = this.#connect();
    this.#context.onstatechange = () => this.#followSound();
    this.#followSound();
    for (const type of ["pointerdown", "keydown"]) addEventListener(type, this.#unlock);
  }

  answer(): void {
    this.#unlock();
    this.#send("answer");
  }

  decline(): void {
    this.#send("decline");
  }

  hangUp(): void {
    this.#send("hang_up");
  }

  /** Presses a key; its tone is heard on both sides. */
  press(digit: string): void {
    if (this.state.value.name !== "talking") return;
    playKey(this.#context, digit);
    this.#connection.send({ type: "digit", call_id: this.state.value.call.id, digit });
  }

  mute(muted: boolean): void {
    if (this.state.value.name !== "talking") return;
    this.liveCall.value?.mute(muted);
    this.#connection.send({ type: "muted", call_id: this.state.value.call.id, muted });
  }

  /** Connects again after the server has refused the phone. */
  retry(): void {
    this.#connection.close();
    this.state.value = { name: "connecting" };
    this.#connection = this.#connect();
  }

  /** Closes the phone; a call on it ends. */
  close(): void {
    for (const type of ["pointerdown", "keydown"]) removeEventListener(type, this.#unlock);
    this.#connection.close();
    this.#stopAlert?.();
    this.liveCall.value?.end();
    this.#context.onstatechange = null;
    void this.#context.close();
  }

  #connect(): PhoneConnection {
    return new PhoneConnection({
      url: this.#url,
      onInput: (input) => this.#handle(input),
      onAudio: (samples) => this.liveCall.value?.play(samples),
    });
  }

  #send(type: Exclude<PhoneCommand["type"], "digit" | "muted">): void {
    const state = this.state.value;
    if ("call" in state) this.#connection.send({ type, call_id: state.call.id });
  }

  #handle(input: PhoneInput): void {
    const before = this.state.value;
    const after = nextPhoneState(before, input, performance.now());
    this.state.value = after;
    if (before.name === after.name) return;
    this.#stopAlert?.();
    this.#stopAlert = after.name === "ringing" ? alertUser(after.call, this.#context) : undefined;
    this.liveCall.value?.end();
    this.liveCall.value = after.name === "talking" ? this.#liveCall(after.call.sampleRate) : undefined;
  }

  #liveCall(callRate: number): LiveCall {
    return new LiveCall({
      context: this.#context,
      callRate,
      processor: this.#processor,
      onFrame: (frame) => this.#connection.sendAudio(frame),
    });
  }

  #followSound(): void {
    this.isSilenced.value = this.#context.state !== "running";
  }

  readonly #unlock = (): void => {
    if (this.#context.state !== "running") void this.#context.resume().catch(() => {});
  };
}
