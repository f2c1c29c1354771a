import { concatPcm, pcmFromFloat } from "../../audio/samples/pcm.ts";
import type { System } from "../../ports/system.ts";
import { LIVE_FRAME, LIVE_FRAME_MS } from "./live-audio.ts";
import { type CalleeDevice, deviceJid, type FakeNumber, otherAddress } from "./numbers.ts";
import type { CallRelays } from "./relays.ts";
import { callStanza, childOf, type FakeStanza, offerAck, offerRefusal, type StanzaOfCall } from "./stanza.ts";
import { startTicker } from "./ticker.ts";

/** A frame that the callee has received. */
export interface FakeFrame {
  /** Time of its arrival, in ms of `System.monotonic()`. */
  readonly atMs: number;
  /** 60 ms of 16 kHz. */
  readonly samples: Int16Array;
}

/** Dependencies of a call on the network and the client. */
export interface FakeCallOptions {
  readonly system: System;
  readonly callId: string;
  /** JID of the caller. */
  readonly creator: string;
  /** JID that the client called. */
  readonly peerJid: string;
  /** Digits of the number that the client called. */
  readonly phone: string;
  readonly number: FakeNumber;
  /** The offer that the network has received. */
  readonly offer: FakeStanza;
  /** The error with which the network refuses the offer when it arrives; undefined if it does not. */
  readonly refusal: () => number | undefined;
  /** Sends a stanza to the client; it gets lost while the client's socket is down. */
  readonly deliver: (stanza: FakeStanza) => void;
  /** Connects the call's relay to the client. */
  readonly connectMedia: () => void;
  /** Has the client dial the relays of the network; returns undefined if the network has no ports. */
  readonly dialRelays: (connected: () => void) => CallRelays | undefined;
  /** Sends a frame of the callee's audio through the relay. */
  readonly sendAudio: (frame: Float32Array) => void;
  readonly newId: () => string;
  /** Called once, at the end of the call. */
  readonly onEnd: () => void;
}

const DEFAULT_DEVICES: readonly CalleeDevice[] = [{ does: "answer", afterMs: 1000 }];

/**
 * A call of a fake client, on the callee's side. It follows the script of its number; a test may act as the callee too.
 */
export class FakeWhatsAppCall {
  readonly callId: string;
  /** JID that the client called. */
  readonly peerJid: string;
  /** Digits of the number that was called. */
  readonly phone: string;
  /** The offer that the network has received, with the callee's privacy token if the client had one. */
  readonly offer: FakeStanza;
  /** Audio the callee has received since its relay connected. */
  readonly frames: FakeFrame[] = [];
  /** True if frames of the callee's audio leave, silence included. */
  sendsAudio: boolean;
  #endedBy: "caller" | "callee" | "network" | undefined;
  #answeredBy: number | undefined;
  #hasRung = false;
  #isMediaConnected = false;
  /** Undefined: the relay has no ports, and carries both directions. */
  #relays: CallRelays | undefined;
  #speech: Float32Array = new Float32Array(0);
  /** Frames to echo; the latest one is kept for the next turn. */
  readonly #echoFrames: Float32Array[] = [];
  readonly #options: FakeCallOptions;
  /** Address of the callee in the network's stanzas. */
  readonly #address: string;
  readonly #stanzas: StanzaOfCall;
  readonly #cancels = new Set<() => void>();

  constructor(options: FakeCallOptions) {
    this.#options = options;
    this.callId = options.callId;
    this.peerJid = options.peerJid;
    this.phone = options.phone;
    this.offer = options.offer;
    this.sendsAudio = options.number.media === undefined || options.number.media === "both";
    const { addressForm = "called" } = options.number;
    this.#address = addressForm === "other" ? otherAddress(options.peerJid, options.phone) : options.peerJid;
    this.#stanzas = { callId: options.callId, from: this.#address, creator: options.creator };
  }

  /** Side that ended the call; undefined until the callee knows of the end. */
  get ended(): "caller" | "callee" | "network" | undefined {
    return this.#endedBy;
  }

  /** The device that answered; undefined if none has. */
  get answeredBy(): number | undefined {
    return this.#answeredBy;
  }

  /** Everything that the callee has received, silence included. */
  get heard(): Int16Array {
    return concatPcm(this.frames.map((frame) => frame.samples));
  }

  /** Acknowledges the offer and runs the script, as the network does when the offer arrives. */
  start(): void {
    const { number, newId, deliver, refusal } = this.#options;
    const { ringsAfterMs = 200, devices = DEFAULT_DEVICES, timesOutAfterMs } = number;
    const error = refusal();
    const offer = error === undefined ? (number.offer ?? "accepted") : { error };
    if (offer === "ignored") return;
    if (typeof offer === "object") {
      deliver(offerRefusal(newId(), this.#stanzas, offer.error));
      return;
    }
    deliver(offerAck(newId(), this.#stanzas, this.#deviceJids(devices.length), number.deviceList ?? "relay"));
    if (number.media !== "never") this.#relays = this.#options.dialRelays(() => this.#relayConnected());
    if (ringsAfterMs !== null) {
      const ringingDevice = devices.findIndex((device) => device.does !== "busy" || device.afterMs > ringsAfterMs);
      if (ringingDevice >= 0) this.#after(ringsAfterMs, () => this.ring(ringingDevice));
    }
    for (const [at, device] of devices.entries()) this.#run(at, device);
    if (timesOutAfterMs !== undefined) this.#after(timesOutAfterMs, () => this.end("network", "timeout"));
  }

  /** Makes a device report that it is ringing. */
  ring(device = 0): void {
    if (this.#hasRung || this.#endedBy !== undefined) return;
    this.#hasRung = true;
    this.#send("preaccept", device);
  }

  /** Makes a device answer; a second answer does nothing. */
  answer(device = 0): void {
    if (this.#endedBy !== undefined || this.#answeredBy !== undefined) return;
    this.#stopScript();
    this.#answeredBy = device;
    this.#send("accept", device);
    const { media, mediaAfterMs = 100, hangsUpAfterMs } = this.#options.number;
    if (this.#relays?.isConnected) this.#after(0, () => this.connectMedia());
    else if (this.#relays) this.#relays.dial();
    else if (media !== "never") this.#after(mediaAfterMs, () => this.connectMedia());
    if (hangsUpAfterMs !== undefined) this.#after(hangsUpAfterMs, () => this.hangUp());
  }

  /** Makes a device decline: the callee's devices stop ringing, but the client does not notice. */
  decline(device = 0): void {
    this.#stopScript();
    this.#send("reject", device);
  }

  /** Makes a device report that it is busy; the others keep ringing. */
  busy(device = 0): void {
    this.#send("reject", device, { reason: "busy" });
  }

  /** Makes the callee hang up. */
  hangUp(): void {
    this.end("callee");
  }

  /** Ends the call with a `<terminate>`. */
  end(by: "callee" | "network", reason?: string): void {
    if (this.#endedBy !== undefined) return;
    this.#send("terminate", this.#answeredBy ?? 0, reason === undefined ? {} : { reason });
    this.stop(by);
  }

  /**
   * Handles a `<terminate>` from the caller. It ends the call only if it names the caller's device, and is sent to the
   * device that answered, or to the callee while none has.
   */
  receiveTerminate(stanza: FakeStanza, creator: string): void {
    const { id, to } = stanza.attrs;
    const device = this.#answeredBy ?? 0;
    const addresses = [this.peerJid, this.#address].map((address) => deviceJid(address, device));
    const isForCallee = id !== undefined && to !== undefined && addresses.includes(to);
    const isOfCaller = childOf(stanza)?.attrs["call-creator"] === creator && creator === this.#stanzas.creator;
    if (isForCallee && isOfCaller) this.stop("caller");
  }

  /** Connects the relay: audio flows if the client has seen the answer. */
  connectMedia(): void {
    if (this.#isMediaConnected || this.#endedBy !== undefined) return;
    this.#isMediaConnected = true;
    const { number, system, connectMedia } = this.#options;
    if (number.speaks !== undefined) this.say(number.speaks);
    connectMedia();
    this.#cancels.add(startTicker(system, LIVE_FRAME_MS, () => this.#sendFrame()));
  }

  /** Makes the callee speak, after any current speech; 16 kHz. */
  say(samples: Int16Array): void {
    const speech = new Float32Array(this.#speech.length + samples.length);
    speech.set(this.#speech);
    speech.set(
      Float32Array.from(samples, (sample) => sample / 32768),
      this.#speech.length,
    );
    this.#speech = speech;
  }

  /** Receives a frame of the caller's audio. Called by the client. */
  receive(frame: Float32Array): void {
    if (this.#endedBy !== undefined || !this.#receives) return;
    this.frames.push({ atMs: this.#options.system.monotonic(), samples: pcmFromFloat([frame]) });
    if (this.#options.number.echoes === true) this.#echoFrames.push(frame.slice());
  }

  /** Records the end, and stops everything. Called by the client. */
  stop(by: "caller" | "callee" | "network"): void {
    this.#stopScript();
    this.#relays?.close();
    if (this.#endedBy !== undefined) return;
    this.#endedBy = by;
    this.#options.onEnd();
  }

  /** Allows the client to use a connected relay, once the callee has answered. */
  #relayConnected(): void {
    if (this.#answeredBy !== undefined) this.connectMedia();
  }

  /** The callee's devices as the network lists them. */
  #deviceJids(count: number): string[] {
    const isBoth = this.#options.number.addressForm === "both";
    const addresses = isBoth ? [this.peerJid, otherAddress(this.peerJid, this.phone)] : [this.#address];
    return addresses.flatMap((address) => Array.from({ length: count }, (_, device) => deviceJid(address, device)));
  }

  #run(index: number, device: CalleeDevice): void {
    if (device.does === "answer") this.#after(device.afterMs, () => this.answer(index));
    else if (device.does === "decline") this.#after(device.afterMs, () => this.decline(index));
    else if (device.does === "busy") this.#after(device.afterMs, () => this.busy(index));
  }

  #sendFrame(): void {
    const frame = new Float32Array(LIVE_FRAME);
    const echoFrame = this.#echoFrames.length > 1 ? this.#echoFrames.shift() : undefined;
    frame.set(this.#speech.length === 0 && echoFrame ? echoFrame : this.#speech.subarray(0, LIVE_FRAME));
    this.#speech = this.#speech.slice(LIVE_FRAME);
    if (this.sendsAudio && (this.#relays?.returnsAudio ?? true)) this.#options.sendAudio(frame);
  }

  get #receives(): boolean {
    return this.#options.number.media !== "mute" && (this.#relays?.carriesAudio ?? true);
  }

  #send(tag: string, device: number, attrs?: Record<string, string>): void {
    const { newId, deliver } = this.#options;
    const from = deviceJid(this.#address, device);
    deliver(callStanza(tag, newId(), { ...this.#stanzas, from }, attrs));
  }

  #after(ms: number, run: () => void): void {
    const cancel = this.#options.system.after(ms, () => {
      this.#cancels.delete(cancel);
      run();
    });
    this.#cancels.add(cancel);
  }

  #stopScript(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }
}
