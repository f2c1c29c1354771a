import type { Codec } from "../../../adapters/sip-stack/media/codecs/codec.ts";
import { createG711 } from "../../../adapters/sip-stack/media/codecs/g711.ts";
import { RtpJitterBuffer } from "../../../adapters/sip-stack/media/jitter/rtp-jitter-buffer.ts";
import { random } from "../../support/random.ts";

/** The delays of a packet, ms: undefined if it is lost, several if it is duplicated. */
export type Delivery = (index: number, chance: () => number) => readonly number[] | undefined;

export interface Passage {
  readonly delivers: Delivery;
  /** Number of packets of 20 ms; those beyond the clip are silence. */
  readonly packets: number;
  /** Drift of the sender's clock relative to our clock, ppm. */
  readonly ppm?: number;
  /** Delay of our first frame after the first packet was sent, ms. Default: 7. */
  readonly phaseMs?: number;
  readonly firstSequence?: number;
  readonly firstTimestamp?: number;
  readonly codec?: Codec;
}

const PACKET_MS = 20;

/** Sends a clip of 8 kHz through a network into a jitter buffer; returns all output frames, concatenated. */
export function passThrough(clip: Int16Array, passage: Passage): { heard: Int16Array; buffer: RtpJitterBuffer } {
  const { delivers, packets, ppm = 0, phaseMs = 7, firstSequence = 100, firstTimestamp = 1_000 } = passage;
  const codec = passage.codec ?? createG711("PCMU");
  const samples = (codec.sampleRate * PACKET_MS) / 1000;
  const chance = random(42);
  const arrivals: { at: number; index: number; payload: Uint8Array }[] = [];
  for (let index = 0; index < packets; index++) {
    const frame = new Int16Array(samples);
    frame.set(clip.subarray(index * samples, (index + 1) * samples));
    const output = new Uint8Array(500);
    const payload = output.slice(0, codec.encode(frame, output, 0));
    const sentAt = (index * PACKET_MS) / (1 + ppm / 1e6);
    for (const delay of delivers(index, chance) ?? []) arrivals.push({ at: sentAt + delay, index, payload });
  }
  arrivals.sort((a, b) => a.at - b.at);
  const buffer = new RtpJitterBuffer(codec);
  const frame = new Int16Array(samples);
  const marks = new Uint8Array(samples);
  const heard: number[] = [];
  let nextArrival = 0;
  for (let tick = 0; tick < packets + 20; tick++) {
    const now = phaseMs + tick * PACKET_MS;
    for (; nextArrival < arrivals.length && arrivals[nextArrival]!.at <= now; nextArrival++) {
      const { at, index, payload } = arrivals[nextArrival]!;
      const units = (codec.clockRate * PACKET_MS) / 1000;
      const timestamp = (firstTimestamp + index * units) >>> 0;
      buffer.take(0x10000 + firstSequence + index, timestamp, payload, 0, payload.length, at, true);
    }
    buffer.read(frame, now, marks);
    for (const sample of frame) heard.push(sample);
  }
  return { heard: Int16Array.from(heard), buffer };
}

/** Largest step from one sample to the next. */
export function largestStep(samples: Int16Array): number {
  let maxStep = 0;
  for (let i = 1; i < samples.length; i++) maxStep = Math.max(maxStep, Math.abs(samples[i]! - samples[i - 1]!));
  return maxStep;
}

/** Position of `part` within `samples`; -1 if not found. */
export function find(samples: Int16Array, part: Int16Array): number {
  for (let at = 0; at + part.length <= samples.length; at++) {
    let i = 0;
    while (i < part.length && samples[at + i] === part[i]) i++;
    if (i === part.length) return at;
  }
  return -1;
}
