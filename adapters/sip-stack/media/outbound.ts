import { FRAME_MS, type FrameSource, type System } from "../ports.ts";
import { type Codec, MAX_PAYLOAD_BYTES } from "./codecs/codec.ts";
import type { StreamSettings } from "./engine.ts";
import { FrameResampler } from "./frame-resampler.ts";
import { PROTECTION_BYTES, RTP_HEADER_BYTES, readUint32, writeRtpHeader } from "./rtp-packet.ts";
import { PacketBuffer, sharedFrame } from "./shared-frame.ts";
import { EVENT_BYTES, EventSender } from "./telephone-event.ts";

const PACKET_BYTES = RTP_HEADER_BYTES + MAX_PAYLOAD_BYTES + PROTECTION_BYTES;
/** Number of packet buffers that take turns: a runtime may still read one while the next is written. */
const RING = 4;
const NO_SAMPLES: Int16Array = new Int16Array(0);

/** Hands a packet of this many bytes to the network, encrypted if necessary; the buffer has room for the tag. */
export type Transmit = (packet: PacketBuffer, length: number) => void;

/** The outbound stream: pulls frames, encodes them, numbers the packets. */
export class Outbound {
  ssrc = 0;
  /** Number of packets, and of payload bytes, sent with this SSRC (RFC 3550 section 6.4.1). */
  packets = 0;
  octets = 0;
  /** Timestamp of the next frame's first sample. */
  timestamp = 0;
  /** Keys to be sent instead of the source's audio. */
  readonly keys: EventSender = new EventSender();
  readonly #system: System;
  readonly #transmit: Transmit;
  readonly #sampleRate: number;
  readonly #ring = Array.from({ length: RING }, () => new PacketBuffer(PACKET_BYTES));
  readonly #frame: Int16Array;
  #packetsAtAnswer = 0;
  #turn = 0;
  #sequence = 0;
  /** Number of packets sent with other SSRCs. */
  #previousPackets = 0;
  #codec: Codec | undefined;
  #settings: StreamSettings | undefined;
  #resampler: FrameResampler | undefined;
  /** A frame at the codec's rate, and the samples collected for the next packet. */
  #converted = NO_SAMPLES;
  #packet = NO_SAMPLES;
  #filledSamples = 0;
  #marker = true;
  #keyTimestamp = 0;

  /** @param sampleRate Hz of the source's frames */
  constructor(system: System, sampleRate: number, transmit: Transmit) {
    this.#system = system;
    this.#renumber();
    this.#sampleRate = sampleRate;
    this.#transmit = transmit;
    this.#frame = sharedFrame("pulled", (sampleRate * FRAME_MS) / 1000);
  }

  /** Applies new settings. */
  configure(settings: StreamSettings, codec: Codec): void {
    this.#settings = settings;
    const packetMs = codec.packetMs.includes(settings.ptimeMs) ? settings.ptimeMs : FRAME_MS;
    const samples = (codec.sampleRate * packetMs) / 1000;
    if (codec === this.#codec && samples === this.#packet.length) return;
    if (codec !== this.#codec) this.#resampler = new FrameResampler(this.#sampleRate, codec.sampleRate);
    this.#codec = codec;
    this.#converted = sharedFrame("encoded", (codec.sampleRate * FRAME_MS) / 1000);
    this.#packet = new Int16Array(samples);
    this.#filledSamples = 0;
  }

  /** Handles the answer: later packets are meant for the callee. */
  onAnswer(): void {
    this.#packetsAtAnswer = this.packets;
  }

  /**
   * True if the packet with this number was sent after the answer.
   *
   * @param sequence a number of which only the lower 16 bits are used
   */
  hasSent(sequence: number): boolean {
    return ((this.#sequence - 1 - sequence) & 0xffff) < this.packets - this.#packetsAtAnswer;
  }

  /** Changes the SSRC for a new key, so that the receiver cannot mistake an old packet for one with the new key. */
  renew(): void {
    this.#previousPackets += this.packets;
    this.packets = this.octets = this.#packetsAtAnswer = 0;
    this.#marker = true;
    this.#renumber();
  }

  /** Number of packets sent, with all SSRCs. */
  get sentPackets(): number {
    return this.#previousPackets + this.packets;
  }

  /** Sends the first frame outside the clock's tick, perhaps during another call's tick. */
  begin(source: FrameSource | undefined): void {
    this.#next(source, new Int16Array(this.#frame.length));
  }

  /** Sends one frame: a key, audio from the source, or silence. */
  tick(source: FrameSource | undefined): void {
    this.#next(source, this.#frame);
  }

  /** Handles a tick on hold: no packet is sent. */
  pause(): void {
    if (this.#codec === undefined) return;
    this.#filledSamples = 0;
    this.#marker = true;
    this.#advance(this.#codec);
  }

  #next(source: FrameSource | undefined, frame: Int16Array): void {
    const codec = this.#codec;
    if (codec === undefined) return;
    if (this.keys.isBusy && this.#settings?.telephoneEvent !== undefined) this.#sendKey(codec, frame);
    else {
      if (source === undefined) frame.fill(0);
      else source.read(frame);
      this.#sendAudio(codec, frame);
    }
    this.#advance(codec);
  }

  #renumber(): void {
    const bytes = new Uint8Array(12);
    this.#system.random(bytes);
    this.ssrc = readUint32(bytes, 0);
    this.timestamp = readUint32(bytes, 4);
    // Low enough that SRTP cannot miss a wrap if the first packets are lost (RFC 3711 section 3.3.1).
    this.#sequence = readUint32(bytes, 8) & 0x7fff;
  }

  #advance(codec: Codec): void {
    this.timestamp = (this.timestamp + (codec.clockRate * FRAME_MS) / 1000) >>> 0;
  }

  #sendAudio(codec: Codec, frame: Int16Array): void {
    const samples = this.#resampler?.convert(frame, this.#converted) ?? frame;
    if (samples.length === this.#packet.length) {
      this.#sendPacket(codec, samples, this.timestamp);
      return;
    }
    const units = codec.clockRate / codec.sampleRate;
    for (let i = 0; i < samples.length; i++) {
      this.#packet[this.#filledSamples++] = samples[i]!;
      if (this.#filledSamples < this.#packet.length) continue;
      this.#filledSamples = 0;
      this.#sendPacket(codec, this.#packet, this.timestamp + (i + 1 - this.#packet.length) * units);
    }
  }

  #sendPacket(codec: Codec, samples: Int16Array, timestamp: number): void {
    const { bytes } = this.#ring[this.#turn]!;
    const payload = codec.encode(samples, bytes, RTP_HEADER_BYTES);
    if (payload > 0) this.#send(this.#settings!.payloadType.send, timestamp, payload);
  }

  #sendKey(codec: Codec, frame: Int16Array): void {
    const { payloadType, clockRate } = this.#settings!.telephoneEvent!;
    if (this.keys.isKeyStart) {
      this.#keyTimestamp = this.timestamp;
      this.#marker = true;
    }
    this.#filledSamples = 0;
    if (this.keys.next(this.#ring[this.#turn]!.bytes, RTP_HEADER_BYTES, clockRate))
      this.#send(payloadType, this.#keyTimestamp, EVENT_BYTES);
    else {
      this.#marker = true;
      this.#sendAudio(codec, frame.fill(0));
    }
  }

  /** Sends the packet whose payload has been written. */
  #send(payloadType: number, timestamp: number, payload: number): void {
    const packet = this.#ring[this.#turn]!;
    this.#turn = (this.#turn + 1) % RING;
    writeRtpHeader(packet.bytes, payloadType, this.#marker, this.#sequence, timestamp, this.ssrc);
    this.#marker = false;
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.packets++;
    this.octets += payload;
    this.#transmit(packet, RTP_HEADER_BYTES + payload);
  }
}
