import { buildWav } from "../audio/wav/wav-files.ts";

const RATE = 8_000;
const PCM = 1;

const texts = new Map<number, string>();

/** A recorded message of this length, Base64; a quiet buzz. */
export function messageOf(ms: number): string {
  const message = texts.get(ms);
  if (message !== undefined) return message;
  const frames = Array.from({ length: (RATE * ms) / 1_000 }, (_, n) => [n % 40 < 20 ? 0.1 : -0.1]);
  const text = Buffer.from(buildWav({ tag: PCM, bits: 16, sampleRate: RATE, frames })).toString("base64");
  texts.set(ms, text);
  return text;
}
