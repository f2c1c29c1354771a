import { MediaClock } from "../../../src/audio/playout/media-clock.ts";
import { Playout } from "../../../src/audio/playout/playout.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import type { FrameSink } from "../../../src/ports/media.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { MediaEngine, MediaListener, MediaSession, StreamSettings } from "../../sip-stack/media/engine.ts";
import { newSrtpKeys } from "../../sip-stack/media/srtp/sdes.ts";
import { createThreadEngine } from "../../sip-stack/media/thread-engine.ts";
import type { TrialCounts } from "./ramp.ts";
import type { AudioLoad } from "./trial.ts";

/** Options shared by the calls of a load. */
export interface CallsLoadOptions {
  /** Ports of the echo on 127.0.0.1; calls use them in turns. */
  readonly ports: readonly number[];
  readonly codec: CallCodec;
  readonly srtp?: boolean | undefined;
  /** Carries the calls; their lateness is not measured then. Default: this thread. */
  readonly engine?: MediaEngine | undefined;
}

/** Payload type, and sample rate in Hz. */
const CODECS = {
  PCMU: { payloadType: 0, sampleRate: 8_000 },
  G722: { payloadType: 9, sampleRate: 16_000 },
  opus: { payloadType: 111, sampleRate: 16_000 },
} as const;

/** Codec of calls that can be measured. */
export type CallCodec = keyof typeof CODECS;

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
  readonly #engine: MediaEngine;
  readonly #clock = new MediaClock(realSystem);
  readonly #calls: LiveCall[] = [];
  readonly #sampleRate: number;
  readonly #message: Int16Array;
  #totalAtBegin: TrialCounts = { sent: 0, received: 0, underruns: 0 };

  constructor(options: CallsLoadOptions) {
    this.#options = options;
    this.#engine = options.engine ?? createThreadEngine({ clock: this.#clock });
    this.#sampleRate = CODECS[options.codec].sampleRate;
    this.#message = tone(440, MESSAGE_MS, this.#sampleRate, 8_000);
  }

  get lateness(): AudioLoad["lateness"] {
    return this.#clock.lateness;
  }

  async resize(count: number): Promise<void> {
    while (this.#calls.length < count) this.#calls.push(await this.#call());
    await Promise.all(this.#calls.splice(count).map(({ session }) => session.close()));
  }

  begin(): void {
    this.#clock.lateness.reset();
    this.#totalAtBegin = this.#total();
  }

  counts(): TrialCounts {
    const { sent, received, underruns } = this.#total();
    const { sent: sentAtBegin, received: receivedAtBegin, underruns: underrunsAtBegin } = this.#totalAtBegin;
    return {
      sent: sent - sentAtBegin,
      received: received - receivedAtBegin,
      underruns: underruns - underrunsAtBegin,
    };
  }

  close(): Promise<void> {
    return this.#engine.close();
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
    const { ports, codec, srtp } = this.#options;
    const remote = { address: "127.0.0.1", port: ports[this.#calls.length % ports.length] ?? 0 };
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

  #total(): TrialCounts {
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
