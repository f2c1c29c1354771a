import type { MediaListener, MediaSession, StreamSettings } from "../../../adapters/sip-stack/media/engine.ts";
import { newSrtpKeys } from "../../../adapters/sip-stack/media/srtp/sdes.ts";
import { createThreadEngine, type ThreadEngine } from "../../../adapters/sip-stack/media/thread-engine.ts";
import { Playout } from "../../../src/audio/playout/playout.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import type { FrameSink } from "../../../src/ports/media.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { AudioLoad } from "./calls-at-once.ts";

/** Options shared by the calls of a load. */
export interface CallsLoadOptions {
  /** Port of the echo on 127.0.0.1. */
  readonly port: number;
  readonly codec: keyof typeof CODECS;
  readonly srtp?: boolean | undefined;
}

/** Payload type, and sample rate in Hz. */
const CODECS = {
  PCMU: { payloadType: 0, sampleRate: 8_000 },
  G722: { payloadType: 9, sampleRate: 16_000 },
  opus: { payloadType: 111, sampleRate: 16_000 },
} as const;

/** Longer than any measurement. */
const MESSAGE_MS = 300_000;
const SILENT_LISTENER: MediaListener = { sending() {}, receiving() {}, digit() {}, silent() {}, lost() {} };

interface LiveCall {
  readonly session: MediaSession;
  readonly playout: Playout;
}

/** Calls that play a message from a playout and hear it echoed: all of a call except its signalling. */
export class CallsLoad implements AudioLoad, FrameSink {
  /** Number of frames heard since `begin`. */
  frames = 0;
  readonly #options: CallsLoadOptions;
  readonly #engine: ThreadEngine = createThreadEngine();
  readonly #calls: LiveCall[] = [];
  readonly #sampleRate: number;
  readonly #message: Int16Array;
  #totalAtBegin = { sent: 0, received: 0, underruns: 0 };

  constructor(options: CallsLoadOptions) {
    this.#options = options;
    this.#sampleRate = CODECS[options.codec].sampleRate;
    this.#message = tone(440, MESSAGE_MS, this.#sampleRate, 8_000);
  }

  get lateness(): AudioLoad["lateness"] {
    return this.#engine.clock.lateness;
  }

  get sent(): number {
    return this.#total().sent - this.#totalAtBegin.sent;
  }

  get received(): number {
    return this.#total().received - this.#totalAtBegin.received;
  }

  get underruns(): number {
    return this.#total().underruns - this.#totalAtBegin.underruns;
  }

  async grow(count: number): Promise<void> {
    while (this.#calls.length < count) this.#calls.push(await this.#call());
  }

  begin(): void {
    this.#engine.clock.lateness.reset();
    this.#totalAtBegin = this.#total();
  }

  async close(): Promise<void> {
    await this.#engine.close();
  }

  /** @internal the echoed audio */
  write(): void {
    this.frames++;
  }

  async #call(): Promise<LiveCall> {
    const options = {
      address: "127.0.0.1",
      ports: [16_384, 49_151],
      sampleRate: this.#sampleRate,
      mayUseOpus: this.#options.codec === "opus",
      lossMs: 20_000,
    } as const;
    const session = await this.#engine.open(options, SILENT_LISTENER);
    const playout = new Playout(this.#sampleRate);
    playout.enqueue(this.#message);
    session.connect(playout, this);
    session.configure(this.#settings());
    session.start();
    return { session, playout };
  }

  #settings(): StreamSettings {
    const { port, codec, srtp } = this.#options;
    const remote = { address: "127.0.0.1", port };
    const { payloadType } = CODECS[codec];
    // The echoed audio equals the sent audio, so it uses the same keys.
    const keys = newSrtpKeys("AES_CM_128_HMAC_SHA1_80", realSystem.random);
    return {
      remote,
      remoteRtcp: remote,
      rtcpMux: true,
      codec,
      payloadType: { send: payloadType, receive: payloadType },
      telephoneEvent: undefined,
      ptimeMs: 20,
      srtp: srtp ? { send: keys, receive: keys } : undefined,
      direction: "sendrecv",
    };
  }

  #total(): { sent: number; received: number; underruns: number } {
    const total = { sent: 0, received: 0, underruns: 0 };
    for (const { session, playout } of this.#calls) {
      const { packetsSent, packetsReceived } = session.statistics();
      total.sent += packetsSent;
      total.received += packetsReceived;
      total.underruns += playout.underruns;
    }
    return total;
  }
}
