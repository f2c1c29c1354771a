import { FRAME_MS, type FrameSink } from "../ports.ts";
import type { Codec } from "./codecs/codec.ts";
import { isOtherLaw, translate } from "./codecs/g711.ts";
import type { StreamSettings } from "./engine.ts";
import { FrameResampler } from "./frame-resampler.ts";
import { RtpJitterBuffer } from "./jitter/rtp-jitter-buffer.ts";
import type { PeerHosts } from "./peer-hosts.ts";
import { RESTARTED, Reception } from "./reception.ts";
import { RemoteSource } from "./remote-source.ts";
import { RtpPacket } from "./rtp-packet.ts";
import { sharedFrame, sharedMarks } from "./shared-frame.ts";
import { EventReceiver } from "./telephone-event.ts";

/** Number of frames for which missing packets are awaited after this thread has stalled. */
const MAX_DUE_FRAMES = 25;
/** Maximum time that audio received right after the answer waits for a packet that continues it, ms. */
const MAX_WAIT_MS = 200;

/** Comfort noise (RFC 3389 section 4): a static payload type, which phones send although it was not offered. */
const COMFORT_NOISE = 13;

/** This thread's last parsed packet. */
const sharedPacket = new RtpPacket();

/** Events of an {@link Inbound}. */
export interface InboundListener {
  /** Called when the peer's first audio has arrived. */
  firstAudio(): void;
  digit(digit: string): void;
}

/** The inbound stream: accepts packets, puts them in order, and detects keys. */
export class Inbound {
  readonly source: RemoteSource;
  /** Number of packets that are malformed or from other sources. */
  invalid = 0;
  /** Totals of the sources and codecs before the current one. */
  #previousTotals = { received: 0, lost: 0, duplicated: 0 };
  #reordered = 0;
  #hasAudio = false;
  /** Time at which early media ended, ms; -Infinity if there was none. */
  #earlyUntil = Number.NEGATIVE_INFINITY;
  #dueFrames = 0;
  readonly #listener: InboundListener;
  readonly #sampleRate: number;
  readonly #frame: Int16Array;
  readonly #marks: Uint8Array;
  readonly #events = new EventReceiver();
  #settings: StreamSettings | undefined;
  #codec: Codec | undefined;
  #reception = new Reception(8000);
  /** The SSRC of the counted packets; -1 before the first. */
  #ssrc = -1;
  #jitter: RtpJitterBuffer | undefined;
  #resampler: FrameResampler | undefined;
  #decoded: Int16Array = new Int16Array(0);
  #decodedMarks: Uint8Array = new Uint8Array(0);

  /**
   * @param sampleRate Hz of the sink's frames
   * @param strict true if only packets from the negotiated address count
   */
  constructor(sampleRate: number, listener: InboundListener, hosts: PeerHosts, strict = false) {
    this.source = new RemoteSource(hosts, strict);
    this.#sampleRate = sampleRate;
    this.#listener = listener;
    this.#frame = sharedFrame("heard", (sampleRate * FRAME_MS) / 1000);
    this.#marks = sharedMarks("heard", this.#frame.length);
  }

  /** Order, loss and jitter of the current source. */
  get reception(): Reception {
    return this.#reception;
  }

  /** True if any audio has arrived from the peer. */
  get hasAudio(): boolean {
    return this.#hasAudio;
  }

  /** Delay of audio in the jitter buffer, ms. */
  get delayMs(): number {
    return this.#jitter?.delay.targetMs ?? 0;
  }

  get received(): number {
    return this.#previousTotals.received + this.#reception.received;
  }

  get duplicated(): number {
    return this.#previousTotals.duplicated + (this.#jitter?.duplicated ?? 0);
  }

  get reordered(): number {
    return this.#reordered;
  }

  /** Number of packets that have been lost or came too late. */
  get lost(): number {
    return this.#previousTotals.lost + this.#currentLoss();
  }

  /** Applies new settings. */
  configure(settings: StreamSettings, codec: Codec, now: number): void {
    this.#settings = settings;
    this.source.setRemote(settings.remote, now);
    if (codec === this.#codec) return;
    this.#carryTotals();
    this.#codec = codec;
    this.#reception = new Reception(codec.clockRate);
    this.#jitter = new RtpJitterBuffer(codec);
    this.#resampler = new FrameResampler(codec.sampleRate, this.#sampleRate);
    this.#decoded = sharedFrame("decoded", (codec.sampleRate * FRAME_MS) / 1000);
    this.#decodedMarks = sharedMarks("decoded", this.#decoded.length);
  }

  /**
   * Drops earlier audio when the call is answered. @param earlyUntil time until which early media may still arrive, ms
   */
  start(earlyUntil: number): void {
    if (this.#hasAudio) this.#earlyUntil = earlyUntil;
    this.#hasAudio = false;
    this.#dueFrames = 0;
  }

  /**
   * Handles a decrypted datagram; the array is kept. Returns true if it comes from the peer's source, with audio or
   * without, which proves that the peer is alive.
   *
   * @param isTimely true if it arrived just now; otherwise it may have waited in the socket while this thread stalled
   */
  take(bytes: Uint8Array, length: number, address: string, port: number, now: number, isTimely: boolean): boolean {
    const packet = sharedPacket;
    if (!packet.parse(bytes, length) || !this.#isExpectedType(packet.payloadType)) {
      // A packet from the source uses a sequence number even if it carries no audio.
      const isFromSource = packet.ssrc >= 0 && packet.ssrc === this.source.ssrc && this.source.isAt(address, port);
      if (isFromSource) this.#skip();
      else this.invalid++;
      return isFromSource;
    }
    const isAuthentic = this.#settings?.srtp !== undefined;
    const verdict = this.source.judge(packet, bytes, length, address, port, now, isAuthentic);
    if (verdict === "foreign") this.invalid++;
    if (verdict === "foreign" || verdict === "pending") return false;
    if (verdict === "new") {
      if (this.#ssrc >= 0 && packet.ssrc !== this.#ssrc) this.#restart();
      this.#ssrc = packet.ssrc;
      const { pending, pendingLengths } = this.source;
      for (const [i, earlier] of pending.entries())
        if (packet.parse(earlier, pendingLengths[i]!)) this.#accept(earlier, now, isTimely && i === pending.length - 1);
      if (pending.length > 0) packet.parse(bytes, length);
    }
    this.#accept(bytes, now, isTimely);
    return true;
  }

  /**
   * Handles a tick: passes the due frame to the sink.
   *
   * @param isStalled true if this thread stalled and has not read the socket yet: missing packets may be waiting there
   */
  tick(now: number, isStalled: boolean, sink: FrameSink | undefined): void {
    const jitter = this.#jitter;
    if (jitter === undefined) return;
    if (!this.#hasAudio) {
      if (now < this.#earlyUntil + MAX_WAIT_MS) this.#dueFrames++;
      else this.#forgetEarly(jitter);
      return;
    }
    this.#dueFrames++;
    const shouldWait = isStalled && this.#dueFrames < MAX_DUE_FRAMES;
    while (this.#dueFrames > 0) {
      const dueAt = now - (this.#dueFrames - 1) * FRAME_MS;
      if (shouldWait && !jitter.isReady(this.#decoded.length, dueAt)) return;
      this.#dueFrames--;
      const isMarked = jitter.read(this.#decoded, dueAt, this.#decodedMarks);
      const frame = this.#resampler?.convert(this.#decoded, this.#frame) ?? this.#decoded;
      const marks = isMarked ? this.#decodedMarks : undefined;
      sink?.write(frame, this.#resampler === undefined ? marks : this.#resampler.convertMarks(marks, this.#marks));
    }
  }

  #isExpectedType(payloadType: number): boolean {
    const settings = this.#settings;
    if (settings === undefined) return false;
    const { receive } = settings.payloadType;
    return (
      payloadType === receive ||
      payloadType === settings.telephoneEvent?.payloadType ||
      payloadType === COMFORT_NOISE ||
      isOtherLaw(payloadType, receive)
    );
  }

  #skip(): void {
    const sequence = this.#reception.take(sharedPacket.sequence);
    if (sequence >= 0) this.#jitter?.skip(sequence, sharedPacket.timestamp);
  }

  #accept(bytes: Uint8Array, now: number, isTimely: boolean): void {
    const packet = sharedPacket;
    const jitter = this.#jitter;
    if (jitter === undefined) return;
    const highestBefore = this.#reception.highestSequence;
    let sequence = this.#reception.take(packet.sequence);
    if (sequence === RESTARTED) {
      this.#restart();
      sequence = this.#reception.take(packet.sequence);
    } else if (sequence < 0) {
      this.invalid++;
      return;
    } else if (sequence < highestBefore) this.#reordered++;
    const reception = this.#reception;
    const event = this.#settings?.telephoneEvent;
    if (packet.payloadType === event?.payloadType) {
      jitter.skip(sequence, packet.timestamp);
      reception.skipJitter();
      const { payloadAt, payloadLength, timestamp, marker } = packet;
      const digit = this.#events.take(bytes, payloadAt, payloadLength, timestamp, marker, event.clockRate);
      if (digit !== undefined) this.#listener.digit(digit);
      return;
    }
    if (packet.payloadType === COMFORT_NOISE) {
      jitter.skip(sequence, packet.timestamp);
      this.#markAudible(now, isTimely);
      return;
    }
    if (packet.payloadLength === 0) {
      jitter.skip(sequence, packet.timestamp);
      return;
    }
    if (isOtherLaw(packet.payloadType, this.#settings?.payloadType.receive))
      translate(bytes, packet.payloadAt, packet.payloadLength, packet.payloadType);
    if (isTimely) reception.measureJitter(packet.timestamp, now);
    jitter.take(sequence, packet.timestamp, bytes, packet.payloadAt, packet.payloadLength, now, isTimely);
    this.#markAudible(now, isTimely);
  }

  #markAudible(now: number, isTimely: boolean): void {
    const isEarly = now < this.#earlyUntil || (!isTimely && this.#earlyUntil !== Number.NEGATIVE_INFINITY);
    if (this.#hasAudio || isEarly) return;
    this.#hasAudio = true;
    this.#listener.firstAudio();
  }

  /** Drops the audio that has been waiting since the answer: it was the end of early media. */
  #forgetEarly(jitter: RtpJitterBuffer): void {
    if (this.#dueFrames === 0) return;
    this.#dueFrames = 0;
    jitter.restart();
  }

  /** Starts with another source, or with new sequence numbers of the same source. */
  #restart(): void {
    this.#carryTotals();
    this.#reception = new Reception(this.#codec?.clockRate ?? 8000);
    this.#events.reset();
    this.#jitter?.restart();
  }

  #carryTotals(): void {
    this.#previousTotals = { received: this.received, lost: this.lost, duplicated: this.duplicated };
    if (this.#jitter === undefined) return;
    this.#jitter.late = 0;
    this.#jitter.duplicated = 0;
  }

  #currentLoss(): number {
    const { late = 0, duplicated = 0 } = this.#jitter ?? {};
    return Math.max(0, this.#reception.lost + duplicated) + late;
  }
}
