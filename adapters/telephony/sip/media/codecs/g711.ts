import { ALAW_LEVELS, alawCode, MULAW_LEVELS, mulawCode } from "../../../../../src/audio/g711.ts";
import type { Codec } from "./codec.ts";

const SAMPLE_RATE = 8000;
const PACKET_MS = [10, 20, 30, 40, 50, 60];

/** PCMU and PCMA (RFC 3551 section 4.5.14): one byte per sample, no state. */
export function createG711(name: "PCMU" | "PCMA"): Codec {
  const code = name === "PCMU" ? mulawCode : alawCode;
  const levels = name === "PCMU" ? MULAW_LEVELS : ALAW_LEVELS;
  return {
    name,
    sampleRate: SAMPLE_RATE,
    clockRate: SAMPLE_RATE,
    packetMs: PACKET_MS,
    encode(frame, into, at) {
      for (let i = 0; i < frame.length; i++) into[at + i] = code(frame[i]!);
      return frame.length;
    },
    decode(bytes, at, length, into) {
      const samples = Math.min(length, into.length, bytes.length - at);
      for (let i = 0; i < samples; i++) into[i] = levels[bytes[at + i]!]!;
      return Math.max(0, samples);
    },
    close() {},
  };
}
