import { expect } from "vitest";
import { DtmfDetector } from "../../src/audio/tones/dtmf.ts";
import { type CallView, type Client, expected } from "./server-client.ts";
import type { Sound } from "./server-sound.ts";

type Media = { recording?: { duration_ms: number; url: string } | null } | null;

/** Path of a recording. */
export const recordingOf = (id: string): string => `/v1/calls/${id}/recording`;

/** `media` of a call. */
export async function mediaOf(client: Client, id: string): Promise<Media> {
  return expected(200, await client.get(`/v1/calls/${id}?expand=media`)).json<CallView & { media: Media }>().media;
}

/** The two channels of a WAV file. @throws {Error} its header and its length differ */
export function channels(file: Buffer): { left: Sound; right: Sound; ms: number } {
  const [count, bits, sampleRate] = [file.readUInt16LE(22), file.readUInt16LE(34), file.readUInt32LE(24)];
  const header = { channels: count, bits, riff: file.readUInt32LE(4), data: file.readUInt32LE(40) };
  expect(header).toEqual({ channels: 2, bits: 16, riff: file.length - 8, data: file.length - 44 });
  const channel = (at: number): Sound => ({
    sampleRate,
    samples: Int16Array.from({ length: header.data / 4 }, (_, i) => file.readInt16LE(44 + 4 * i + at)),
  });
  return { left: channel(0), right: channel(2), ms: (header.data / 4 / sampleRate) * 1_000 };
}

/** Keys heard in a sound, and the time of the first one. */
export function keysIn({ samples, sampleRate }: Sound): { keys: string; firstAtMs: number } {
  let [keys, firstAtMs] = ["", -1];
  const detector = new DtmfDetector(sampleRate, (digit, atMs) => {
    if (keys === "") firstAtMs = atMs;
    keys += digit;
  });
  detector.push(samples);
  return { keys, firstAtMs };
}
