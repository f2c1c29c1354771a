import { createSocket, type Socket } from "node:dgram";
import { type Coding, codingOf } from "./coding.ts";

/**
 * Audio of a remote end: a tone of this many Hz, these samples (at the codec's rate) followed by silence, silence,
 * comfort noise (RFC 3389) five times a second, or no packets at all.
 */
export type Speech = { readonly hz: number } | Int16Array | "silence" | "comfort noise" | "nothing";

/** Negotiated settings of two voices. */
export interface Wire {
  readonly remote: { readonly address: string; readonly port: number };
  readonly codec: "PCMU" | "PCMA" | "G722";
  readonly payloadType: number;
  /** Payload type of telephone-event; undefined: none. */
  readonly eventType: number | undefined;
}

/** A packet as received. */
export interface HeardPacket {
  /** Arrival time, ms, monotonic. */
  readonly at: number;
  readonly ssrc: number;
  /** Sequence number, extended beyond 65535. */
  readonly sequence: number;
  readonly timestamp: number;
  readonly payloadType: number;
  readonly marker: boolean;
  readonly payload: Buffer;
  readonly from: string;
}

/** Samples received by a remote end, in timestamp order. */
export interface HeardAudio {
  /** Samples at the codec's rate: 16000 Hz with G.722, otherwise 8000; lost samples are 0. */
  readonly samples: Int16Array;
  /** Positions of the gaps, in timestamp units; a negative length means timestamps that went back. Key events cause gaps too. */
  readonly gaps: readonly { readonly at: number; readonly samples: number }[];
}

const KEYS = "0123456789*#ABCD";
const FRAME = 160;
const FRAME_MS = 20;
/** Length of a key, frames: it is held for 100 ms and followed by 60 ms of voice. */
const KEY_FRAMES = 5;
const PAUSE_FRAMES = 3;
/** Interval between packets of comfort noise. */
const NOISE_FRAMES = 10;
const MAX_GAP = 8000 * 60;

/** The RTP of a remote end: receives everything, and sends every 20 ms. */
export class Voice {
  readonly packets: HeardPacket[] = [];
  /** Types of the RTCP packets received: 200 SR, 201 RR, 203 BYE. */
  readonly rtcp: number[] = [];
  /** Number of packets sent. */
  sentPackets = 0;
  /** Maximum delay of a sent packet because this process stalled, ms. */
  maxLateMs = 0;
  /** Keys pressed by the other side, by telephone-event. */
  keys = "";
  readonly port: number;
  readonly #socket: Socket;
  readonly #sender: Socket;
  #wire: Wire | undefined;
  #coding: Coding = codingOf("PCMU");
  #speech: Speech = "silence";
  #spokenSamples = 0;
  #pendingKeys: string[] = [];
  #heldTicks = 0;
  #timestamp = (Math.random() * 0xffffffff) >>> 0;
  #sequence = (Math.random() * 0xffff) >>> 0;
  #ssrc = (Math.random() * 0xffffffff) >>> 0;
  #isPaused = false;
  #startedAt = 0;
  #frameCount = 0;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastEvent = "";
  #lastSequence: number | undefined;

  private constructor(socket: Socket, sender: Socket) {
    this.port = socket.address().port;
    this.#socket = socket;
    this.#sender = sender;
    for (const udp of new Set([socket, sender]))
      udp.on("message", (packet, { address, port }) => this.#receive(packet, `${address}:${port}`));
  }

  /** Binds a port. @param sendFrom another address to send from, as behind a NAT */
  static async open(address: string, sendFrom?: string): Promise<Voice> {
    const bindSocket = async (to: string): Promise<Socket> => {
      const socket = createSocket(to.includes(":") ? "udp6" : "udp4");
      await new Promise<void>((resolve) => socket.bind(0, to, resolve));
      return socket.on("error", () => {});
    };
    const socket = await bindSocket(address);
    return new Voice(socket, sendFrom === undefined ? socket : await bindSocket(sendFrom));
  }

  /** Starts speaking; another call continues with new settings. */
  speak(wire: Wire, speech: Speech): void {
    if (wire.codec !== this.#wire?.codec) this.#coding = codingOf(wire.codec);
    if (speech !== this.#speech) this.#spokenSamples = 0;
    this.#speech = speech;
    const isFirst = this.#wire === undefined;
    this.#wire = wire;
    if (!isFirst || this.#isClosed) return;
    this.#startedAt = performance.now();
    this.#tick();
  }

  /** Presses keys in succession, by telephone-event. */
  press(keys: string): void {
    this.#pendingKeys.push(...keys);
  }

  /** Number of keys still to press. */
  get pendingKeyCount(): number {
    return this.#pendingKeys.length;
  }

  /** Ends its source by RTCP BYE and stops sending, until `rejoin`. */
  leave(): void {
    this.report(true);
    this.#isPaused = true;
    this.#ssrc = (Math.random() * 0xffffffff) >>> 0;
  }

  /** Sends again, from another source. */
  rejoin(): void {
    this.#isPaused = false;
  }

  /** Sends an empty receiver report (RFC 3550 section 6.4.2). @param isLeaving true to append a BYE */
  report(isLeaving = false): void {
    const { remote } = this.#wire!;
    const words = [0x80_c9_00_01, this.#ssrc, ...(isLeaving ? [0x81_cb_00_01, this.#ssrc] : [])];
    const packet = Buffer.alloc(4 * words.length);
    for (const [i, word] of words.entries()) packet.writeUInt32BE(word, 4 * i);
    this.#sender.send(packet, remote.port, remote.address, () => {});
  }

  /** Sends a receiver report about the other side's stream: all lost. @param highest highest sequence number received */
  reportLoss(highest: number): void {
    const { remote } = this.#wire!;
    const words = [0x81_c9_00_07, this.#ssrc, this.packets.at(-1)!.ssrc, 0xff_00_00_64, highest, 0, 0, 0];
    const packet = Buffer.alloc(4 * words.length);
    for (const [i, word] of words.entries()) packet.writeUInt32BE(word, 4 * i);
    this.#sender.send(packet, remote.port, remote.address, () => {});
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const socket of new Set([this.#socket, this.#sender])) socket.close();
  }

  heardAudio(): HeardAudio {
    const gaps: { at: number; samples: number }[] = [];
    const allSamples: number[] = [];
    for (const ssrc of new Set(this.packets.map((packet) => packet.ssrc))) {
      const stream = this.packets
        .filter((packet) => packet.ssrc === ssrc && packet.payloadType === this.#wire?.payloadType)
        .sort((a, b) => a.sequence - b.sequence)
        .filter((packet, i, sorted) => packet.sequence !== sorted[i - 1]?.sequence);
      const coding = codingOf(this.#wire?.codec ?? "PCMU");
      let nextTimestamp = stream[0]?.timestamp ?? 0;
      for (const { timestamp, payload } of stream) {
        const gap = (timestamp - nextTimestamp) | 0;
        if (gap !== 0) gaps.push({ at: allSamples.length, samples: gap });
        for (let i = 0; i < Math.min(gap, MAX_GAP) * coding.samplesPerByte; i++) allSamples.push(0);
        for (const sample of coding.decode(payload)) allSamples.push(sample);
        nextTimestamp = (timestamp + payload.length) >>> 0;
      }
    }
    return { samples: Int16Array.from(allSamples), gaps };
  }

  #tick(): void {
    for (;;) {
      const lateMs = performance.now() - this.#startedAt - this.#frameCount * FRAME_MS;
      if (lateMs < 0) break;
      this.maxLateMs = Math.max(this.maxLateMs, lateMs);
      if (this.#wire && this.#speech !== "nothing" && !this.#isPaused) this.#sendNext(this.#wire, this.#speech);
      this.#frameCount++;
    }
    const ms = this.#startedAt + this.#frameCount * FRAME_MS - performance.now();
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, ms));
  }

  #sendNext(wire: Wire, speech: Speech): void {
    const key = KEYS.indexOf(this.#pendingKeys[0] ?? "none");
    if (key >= 0 && wire.eventType !== undefined) {
      this.#heldTicks++;
      if (this.#heldTicks <= KEY_FRAMES) {
        const copies = this.#heldTicks === KEY_FRAMES ? 3 : 1;
        for (let i = 0; i < copies; i++) {
          const event = Buffer.from([key, copies === 3 ? 0x8a : 0x0a, 0, 0]);
          event.writeUInt16BE(this.#heldTicks * FRAME, 2);
          this.#send(wire, wire.eventType, this.#timestamp, this.#heldTicks === 1, event);
        }
        return;
      }
      if (this.#heldTicks === KEY_FRAMES + 1) this.#timestamp = (this.#timestamp + KEY_FRAMES * FRAME) >>> 0;
      if (this.#heldTicks === KEY_FRAMES + PAUSE_FRAMES) {
        this.#heldTicks = 0;
        this.#pendingKeys.shift();
      }
    }
    if (speech === "comfort noise") {
      if (this.#frameCount % NOISE_FRAMES === 0) this.#send(wire, 13, this.#timestamp, false, Buffer.of(60));
      this.#timestamp = (this.#timestamp + FRAME) >>> 0;
      return;
    }
    const frame = Int16Array.from({ length: FRAME * this.#coding.samplesPerByte }, () => this.#sample(speech));
    this.#send(wire, wire.payloadType, this.#timestamp, this.sentPackets === 0, this.#coding.encode(frame));
    this.#timestamp = (this.#timestamp + FRAME) >>> 0;
  }

  #sample(speech: Speech): number {
    const at = this.#spokenSamples++;
    if (speech instanceof Int16Array) return speech[at] ?? 0;
    if (typeof speech === "string") return 0;
    return Math.round(8_000 * Math.sin((2 * Math.PI * speech.hz * at) / (8000 * this.#coding.samplesPerByte)));
  }

  #send(wire: Wire, type: number, timestamp: number, marker: boolean, payload: Buffer): void {
    const header = Buffer.alloc(12);
    header[0] = 0x80;
    header[1] = (marker ? 0x80 : 0) | type;
    header.writeUInt16BE(this.#sequence, 2);
    header.writeUInt32BE(timestamp, 4);
    header.writeUInt32BE(this.#ssrc, 8);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.sentPackets++;
    this.#sender.send(Buffer.concat([header, payload]), wire.remote.port, wire.remote.address, () => {});
  }

  #receive(packet: Buffer, from: string): void {
    if (packet.length < 12 || packet[0]! >> 6 !== 2) return;
    if (packet[1]! >= 192 && packet[1]! <= 223) {
      for (let at = 0; at + 4 <= packet.length; at += 4 * (packet.readUInt16BE(at + 2) + 1))
        this.rtcp.push(packet[at + 1]!);
      return;
    }
    const wordCount = packet.readUInt16BE(2);
    const last = this.#lastSequence ?? wordCount;
    const sequence = last + (((wordCount - last) << 16) >> 16);
    this.#lastSequence = Math.max(last, sequence);
    const start = 12 + 4 * (packet[0]! & 15);
    const payloadType = packet[1]! & 0x7f;
    const payload = packet.subarray(start);
    const [timestamp, ssrc] = [packet.readUInt32BE(4), packet.readUInt32BE(8)];
    this.packets.push({
      ...{ at: performance.now(), ssrc, sequence, timestamp, payloadType },
      ...{ marker: packet[1]! >> 7 === 1, payload, from },
    });
    if (payloadType !== this.#wire?.eventType || payload.length < 4) return;
    const event = `${ssrc} ${timestamp}`;
    if (event !== this.#lastEvent) this.keys += KEYS[payload[0]!] ?? "?";
    this.#lastEvent = event;
  }
}
