import { readOffer, writeSdp } from "./offer.ts";
import type { Script } from "./script.ts";
import { Voice, type Wire } from "./voice.ts";

/** Audio of a callee: its SDP answer and its voice. */
export class CalleeAudio {
  readonly voice: Voice;
  readonly #script: Script;
  readonly #address: string;
  #formats: readonly (readonly [payloadType: number, map: string])[] = [];
  #wire: Wire | undefined;
  #rtcpMux = false;
  #version = 0;

  private constructor(voice: Voice, script: Script, address: string) {
    this.voice = voice;
    this.#script = script;
    this.#address = address;
  }

  static async open(script: Script, address: string): Promise<CalleeAudio> {
    const at = script.mediaAt ?? address;
    return new CalleeAudio(await Voice.open(at, script.sendFrom), script, at);
  }

  /**
   * Derives the settings of its voice from an offer; returns false if the offer requires keys, which this callee does
   * not have.
   */
  applyOffer(sdp: string): boolean {
    const { formats, address, port, protocol, rtcpMux } = readOffer(sdp);
    if (protocol !== "RTP/AVP") return false;
    const { codecs = ["PCMU", "PCMA"], noEvents = false } = this.#script;
    const codec = codecs.find((codecName) => formats.some(({ name }) => name === codecName));
    const format = formats.find(({ name }) => name === codec);
    const events = noEvents
      ? undefined
      : formats.find(({ name, clockRate }) => name === "telephone-event" && clockRate === 8000);
    this.#rtcpMux = rtcpMux;
    this.#wire = undefined;
    this.#formats = [[9, "G722/8000"]];
    if (!codec || !format || this.#script.sdp === "no-common-codec") return true;
    this.#wire = {
      ...{ remote: { address, port }, codec },
      ...{ payloadType: format.payloadType, eventType: events?.payloadType },
    };
    this.#formats = [format, ...(events ? [events] : [])].map(({ payloadType, name }) => [payloadType, `${name}/8000`]);
    return true;
  }

  /** SDP of the callee; "" for a callee without audio. */
  sdp(direction = this.#firstDirection): string {
    if (this.#script.sdp === "none") return "";
    if (this.#script.description !== undefined) return this.#script.description;
    const zeros = this.#address.includes(":") ? "::" : "0.0.0.0";
    return writeSdp({
      ...{ version: ++this.#version, address: this.#address, port: this.voice.port },
      ...{ formats: this.#formats, direction: direction === "zeros" ? "sendrecv" : direction, rtcpMux: this.#rtcpMux },
      connection: direction === "zeros" ? zeros : this.#script.host,
    });
  }

  /** Starts speaking, or falls silent for `inactive`, `recvonly`, or an address of zeros. */
  startSpeaking(direction = this.#firstDirection): void {
    const speech = direction.startsWith("send") ? (this.#script.says ?? "silence") : "nothing";
    if (this.#wire && this.#script.sdp !== "none") this.voice.speak(this.#wire, speech);
  }

  get #firstDirection(): string {
    return this.#script.onHold ?? (this.#script.onlyListens ? "recvonly" : "sendrecv");
  }
}
