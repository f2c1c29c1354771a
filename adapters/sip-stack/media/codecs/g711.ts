import { ALAW_LEVELS, alawCode, MULAW_LEVELS, mulawCode } from "../../ports.ts";
import { type Codec, MAX_PACKET_MS } from "./codec.ts";

const SAMPLE_RATE = 8000;
const MAX_PACKET = (MAX_PACKET_MS * SAMPLE_RATE) / 1000;
const PACKET_MS = [10, 20, 30, 40, 50, 60];

/** The code of each sample, by its lower 16 bits: a lookup takes half the time of the computation. */
const MULAW_CODES = codesOf(mulawCode);
const ALAW_CODES = codesOf(alawCode);

/** PCMU and PCMA (RFC 3551 section 4.5.14): one byte per sample, no state. */
export function createG711(name: "PCMU" | "PCMA"): Codec {
  const codes = name === "PCMU" ? MULAW_CODES : ALAW_CODES;
  const levels = name === "PCMU" ? MULAW_LEVELS : ALAW_LEVELS;
  return {
    name,
    sampleRate: SAMPLE_RATE,
    clockRate: SAMPLE_RATE,
    packetMs: PACKET_MS,
    encode(frame, output, at) {
      for (let i = 0; i < frame.length; i++) output[at + i] = codes[frame[i]! & 0xffff]!;
      return frame.length;
    },
    decode(bytes, at, length, output, start) {
      const samples = Math.min(length, MAX_PACKET, bytes.length - at);
      for (let i = 0; i < samples; i++) output[start + i] = levels[bytes[at + i]!]!;
      return Math.max(0, samples);
    },
    close() {},
  };
}

function codesOf(code: (sample: number) => number): Uint8Array {
  const codes = new Uint8Array(0x10000);
  for (let sample = -0x8000; sample < 0x8000; sample++) codes[sample & 0xffff] = code(sample);
  return codes;
}

const PCMU = 0;
const PCMA = 8;
const MULAW_OF_ALAW = Uint8Array.from(ALAW_LEVELS, mulawCode);
const ALAW_OF_MULAW = Uint8Array.from(MULAW_LEVELS, alawCode);

/** True for G.711 with the other law: a peer may send any codec that both descriptions list (RFC 3264 section 6.1). */
export function isOtherLaw(payloadType: number, agreedType: number | undefined): boolean {
  return (payloadType === PCMU && agreedType === PCMA) || (payloadType === PCMA && agreedType === PCMU);
}

/** Converts a payload from one law to the other, in place. */
export function translate(bytes: Uint8Array, at: number, length: number, from: number): void {
  const codes = from === PCMA ? MULAW_OF_ALAW : ALAW_OF_MULAW;
  for (let i = at; i < at + length; i++) bytes[i] = codes[bytes[i]!]!;
}
