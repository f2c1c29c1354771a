import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AudioFormatError } from "../../../src/audio/audio-format-error.ts";
import { pcmFromBytes, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { NoiseWatch } from "../../../src/audio/sniffing/noise-watch.ts";
import { servedFormat } from "../../../src/audio/sniffing/served-format.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import { fuzz } from "../../support/fuzz.ts";
import { random } from "../../support/random.ts";
import { stereoMp3, vbrMp3 } from "../../support/tone-files.ts";
import { babble, whiteNoise } from "../noise.ts";

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const bytesStartingWith = (...bytes: number[]): Uint8Array =>
  new Uint8Array(4_096).fill(7).map((byte, i) => bytes[i] ?? byte);
const randomBytes = (length: number): Uint8Array => {
  const next = random(5);
  return Uint8Array.from({ length }, () => 256 * next());
};

const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const utf16 = (text: string): Uint8Array =>
  Uint8Array.from([0xff, 0xfe, ...[...text].flatMap((letter) => [letter.charCodeAt(0), 0])]);

/** Three ADTS frames of 256 bytes. */
function aac(): Uint8Array {
  const header = [0xff, 0xf1, 0x50, 0x80, 0x20, 0x1f, 0xfc];
  const bytes = bytesStartingWith(...header);
  for (const at of [256, 512]) bytes.set(header, at);
  return bytes;
}

describe("data sent by a server", () => {
  test.for([
    ["WAV", wavHeader({ sampleRate: 8_000 }), "wav"],
    ["MP3 with a tag", stereoMp3, "mp3"],
    ["MP3", vbrMp3, "mp3"],
    ["speech", pcmToBytes(babble(1_000, 24_000, 3_000, 1)), "samples"],
    ["a loud tone", pcmToBytes(tone(60, 1_000, 24_000, 32_000)), "samples"],
    ["silence", new Uint8Array(4_096), "samples"],
    ["quiet samples that spell spaces", new Uint8Array(512).fill(0x20), "samples"],
    ["a few samples", new Uint8Array([0, 1]), "samples"],
  ] as const)("%s is recognised", ([, bytes, format]) => {
    expect(servedFormat(bytes, true)).toBe(format);
  });

  test.for([
    ["JSON", ascii('{"error":"model not loaded"}'), 'text (JSON), which begins with "{\\"error\\"'],
    ["pretty JSON", ascii(`\n {\n  "detail": "${"x".repeat(500)}"}`), "text (JSON)"],
    ["JSON in Chinese", ascii(`{"错误":"${"模型没有加载".repeat(20)}"}`), "text (JSON)"],
    ["HTML", ascii(`<!doctype html>\n<html>${"<p>Sign in</p>".repeat(90)}`), "text (HTML or XML)"],
    ["plain text", ascii("Not Found"), "text"],
    ["Latin-1", latin1("Erro: a voz não está disponível. ".repeat(4)), "text"],
    ["UTF-16", utf16("Internal Server Error, please try again later"), "text"],
    ["server-sent events", ascii(`data: {"audio":"AAAA"}\n\n`.repeat(9)), "text"],
    ["Ogg", bytesStartingWith(...ascii("OggS")), "Ogg"],
    ["FLAC", bytesStartingWith(...ascii("fLaC")), "FLAC"],
    ["MP4", bytesStartingWith(0, 0, 0, 32, ...ascii("ftypM4A ")), "MP4"],
    ["WebM", bytesStartingWith(0x1a, 0x45, 0xdf, 0xa3), "WebM"],
    ["AIFF", bytesStartingWith(...ascii("FORM"), 0, 0, 9, 9, ...ascii("AIFF")), "AIFF"],
    ["gzip", bytesStartingWith(0x1f, 0x8b, 8), "gzip"],
    ["AAC", aac(), "AAC"],
  ] as const)("%s is refused by name", ([, bytes, name]) => {
    expect(() => servedFormat(bytes, true)).toThrow(AudioFormatError);
    expect(() => servedFormat(bytes, true)).toThrow(`it sent ${name}`);
    expect(() => servedFormat(bytes.subarray(0, 4_096), bytes.length < 64)).toThrow(`it sent ${name}`);
  });

  test("a few bytes are not enough for a decision", () => {
    expect(servedFormat(ascii("{"), false)).toBeUndefined();
    expect(servedFormat(new Uint8Array(10), false)).toBeUndefined();
  });

  fuzz(
    "any bytes have a format or are refused, and text is never taken for samples",
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.boolean(),
      fc.string({ minLength: 70 }),
      (bytes, isComplete, text) => {
        try {
          expect(["samples", "wav", "mp3", undefined]).toContain(servedFormat(bytes, isComplete));
        } catch (error) {
          expect(error).toBeInstanceOf(AudioFormatError);
          expect((error as Error).message.length).toBeLessThan(1_000);
        }
        expect(() => servedFormat(ascii(text), isComplete)).toThrow(AudioFormatError);
      },
    ),
  );
});

describe("noise", () => {
  const byteSwapped = (samples: Int16Array): Int16Array => {
    const bytes = pcmToBytes(samples);
    for (let i = 0; i < bytes.length; i += 2) bytes.subarray(i, i + 2).reverse();
    return pcmFromBytes(bytes);
  };

  test.for([
    ["compressed or encrypted bytes", pcmFromBytes(randomBytes(20_000))],
    ["speech in another byte order", byteSwapped(babble(2_000, 24_000, 4_000, 2))],
  ] as const)("%s are noise", ([, samples]) => {
    expect(new NoiseWatch().push(samples)).toBe(true);
  });

  test.for([
    ["speech", babble(5_000, 24_000, 6_000, 3)],
    ["very loud speech", babble(5_000, 8_000, 30_000, 4)],
    ["a tone at full level", tone(3_000, 2_000, 8_000, 32_767)],
    ["a hiss", whiteNoise(48_000, 6_000, 5)],
    ["silence", new Int16Array(20_000)],
  ] as const)("%s is not noise", ([, samples]) => {
    expect(new NoiseWatch().push(samples)).toBe(false);
  });
});
