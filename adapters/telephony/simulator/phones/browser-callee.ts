import type { ReleaseCause } from "../../../../src/ports/telephony.ts";
import type { CalleeActions, SimulatedCallee } from "../callee.ts";
import type { BrowserPhone } from "./browser-phone.ts";
import { OutgoingFrames } from "./outgoing-frames.ts";
import { PhoneAudio } from "./phone-audio.ts";
import { type PhoneCaller, type PhoneCommand, type PhoneEnd, type PhoneFault, phoneFault } from "./phone-message.ts";
import type { RingGroup } from "./ring-group.ts";

/** Options of {@link BrowserCallee}. */
export interface BrowserCalleeOptions {
  /** The number's phones. */
  readonly group: RingGroup;
  readonly call: CalleeActions;
  readonly callId: string;
  readonly caller: PhoneCaller;
  readonly instance: { readonly id: string; readonly name: string };
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  /** Number of samples per frame. */
  readonly frameLength: number;
}

/**
 * A callee at a phone in a browser. All of the number's phones ring; the first to answer gets the call, and one that
 * declines ends the call for all of them. While it rings, phones may connect and disconnect: the call continues ringing
 * without a phone, like a phone that has lost its network, and a page that reconnects rings again.
 */
export class BrowserCallee implements SimulatedCallee {
  readonly isAttended: boolean = true;
  readonly #options: BrowserCalleeOptions;
  readonly #incoming: PhoneAudio;
  #state: "new" | "ringing" | "answered" | "ended" = "new";
  /** The phone that has answered, and the frames sent to it. */
  #phone: BrowserPhone | undefined;
  #outgoing: OutgoingFrames | undefined;

  constructor(options: BrowserCalleeOptions) {
    this.#options = options;
    this.#incoming = new PhoneAudio(options.sampleRate);
  }

  get callId(): string {
    return this.#options.callId;
  }

  start(): void {
    const { group, call } = this.#options;
    if (!group.seize(this)) {
      call.end("busy", "simulator: busy");
      return;
    }
    this.#state = "ringing";
    for (const phone of group.phones) this.ring(phone);
    call.ring();
  }

  stop(cause: ReleaseCause): void {
    if (this.#state === "ended") return;
    const notifiedPhones = this.#ringing;
    if (this.#phone) notifiedPhones.push(this.#phone);
    this.#state = "ended";
    this.#options.group.release(this);
    for (const phone of notifiedPhones) this.#sendEnded(phone, cause);
  }

  hear(frame: Int16Array): void {
    this.#outgoing?.send(frame);
  }

  read(frame: Int16Array): number {
    return this.#incoming.read(frame);
  }

  /** True if the call rings at this phone, or is answered there. */
  isOn(phone: BrowserPhone): boolean {
    return this.#state === "ringing" || (this.#state === "answered" && this.#phone === phone);
  }

  /** Rings a phone that has joined the number, if the call is ringing. */
  ring(phone: BrowserPhone): void {
    if (this.#state !== "ringing") return;
    const { callId, caller, instance, sampleRate } = this.#options;
    const { id, name } = instance;
    phone.send({
      type: "ringing",
      call_id: callId,
      from: caller,
      instance: { id, name },
      sample_rate: sampleRate,
    });
  }

  /** Called when a phone has disconnected. */
  phoneLeft(phone: BrowserPhone, detail: string): void {
    if (this.#phone === phone) this.#options.call.end("callee_hung_up", detail);
  }

  /** Carries out a command from a phone that {@link isOn} the call; returns the reason if it cannot. */
  execute(phone: BrowserPhone, command: PhoneCommand): PhoneFault | undefined {
    const isRinging = this.#state === "ringing";
    if (isRinging !== (command.type === "answer" || command.type === "decline"))
      return phoneFault("not_now", isRinging ? "the call is not yet answered" : "the call is already answered");
    const { call } = this.#options;
    if (command.type === "answer") this.#answer(phone);
    else if (command.type === "decline") call.end("declined", "simulator: declined");
    else if (command.type === "hang_up") call.end("callee_hung_up", "simulator: the callee hung up");
    else if (command.type === "digit") this.#incoming.press(command.digit);
    else this.#incoming.muted = command.muted;
    return undefined;
  }

  /** Receives audio from the phone that has the call; returns a fault, if any. Audio before the answer is ignored. */
  receiveAudio(bytes: Uint8Array): string | undefined {
    return this.#state === "answered" ? this.#incoming.push(bytes) : undefined;
  }

  #answer(phone: BrowserPhone): void {
    const otherPhones = this.#ringing.filter((other) => other !== phone);
    this.#state = "answered";
    this.#phone = phone;
    this.#outgoing = new OutgoingFrames(phone.socket, this.#options.frameLength);
    for (const other of otherPhones) this.#sendEnded(other, "answered_elsewhere");
    phone.send({ type: "answered", call_id: this.callId });
    this.#options.call.answer(true);
  }

  get #ringing(): BrowserPhone[] {
    return this.#state === "ringing" ? [...this.#options.group.phones] : [];
  }

  #sendEnded(phone: BrowserPhone, cause: PhoneEnd): void {
    phone.send({ type: "ended", call_id: this.callId, cause });
  }
}
