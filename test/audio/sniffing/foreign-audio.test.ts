import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IncomingAudio, type IncomingAudioOptions, NotAudio } from "../../../src/audio/incoming-audio.ts";
import { encodeAlaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { concatPcm, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import {
  SAMPLE_ENCODINGS,
  type SampleEncoding,
  STREAM_ENCODINGS,
  sampleCoding,
} from "../../../src/audio/samples/stream-format.ts";
import { CodedAudioWatch } from "../../../src/audio/sniffing/coded-audio-watch.ts";
import { namedFile } from "../../../src/audio/sniffing/named-file.ts";
import { namedText } from "../../../src/audio/sniffing/named-text.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import { environment, fuzz } from "../../support/fuzz.ts";
import { processorMs } from "../../support/processor-time.ts";
import { random } from "../../support/random.ts";
import { babble, whiteNoise } from "../noise.ts";
import { buildWav, concatBytes, letters } from "../wav/wav-files.ts";

const MP3 = new Uint8Array(readFileSync(new URL("../../fixtures/tone-16k-mono-vbr.mp3", import.meta.url)));
const TAGGED_MP3 = new Uint8Array(readFileSync(new URL("../../fixtures/tone-44k-stereo-id3.mp3", import.meta.url)));
const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const HZ = 440;
const sound = (ms: number, rate = 16_000): Int16Array => tone(HZ, ms, rate, 8_000);

interface Outcome {
  readonly samples: Int16Array;
  readonly rates: readonly number[];
  readonly refusal: string | undefined;
}

/** Decodes messages up to the first refusal. */
async function play(messages: readonly Uint8Array[], options: Partial<IncomingAudioOptions> = {}): Promise<Outcome> {
  const chunks: Int16Array[] = [];
  const rates: number[] = [];
  const audio = new IncomingAudio({
    encoding: undefined,
    sampleRate: 16_000,
    mp3: undefined,
    onDecoded(samples, sampleRate) {
      chunks.push(samples);
      if (rates.at(-1) !== sampleRate) rates.push(sampleRate);
    },
    ...options,
  });
  let refusal: string | undefined;
  try {
    for (const message of messages) await audio.push(message);
  } catch (error) {
    expect(error).toBeInstanceOf(NotAudio);
    refusal = (error as Error).message;
    expect(text(refusal).length, "fits into a close frame").toBeLessThanOrEqual(123);
  }
  audio.close();
  return { samples: concatPcm(chunks), rates, refusal };
}

/** Splits bytes into messages of this size. */
function splitInto(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

const TEXTS: [name: string, bytes: Uint8Array, words: RegExp][] = [
  ["an error in JSON", text('{"error":{"message":"Invalid API key","code":401}}'), /text \(JSON\)/],
  ["a control message", text('{"type":"clear"}'), /text \(JSON\).*text messages/],
  ["indented JSON", text('{\n  "detail": "voice not found"\n}\n'), /text \(JSON\)/],
  ["JSON that is cut off", text(`{"audio":"${"UklGRiQAAAB".repeat(100)}`), /text \(JSON\)/],
  ["a list of samples", text("[0.01, -0.25, 0.3, 0, 1, 5e-3, 0.125]"), /text \(JSON\)/],
  ["a page", text("<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title>"), /HTML/],
  ["XML", text('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'), /XML/],
  ["an HTTP response", text("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n"), /HTTP response/],
  ["Base64", text(Buffer.from(pcmToBytes(whiteNoise(400, 3_000, 5))).toString("base64")), /Base64.*decode it/],
  ["a data URL", text("data:audio/wav;base64,UklGRiQAAABXQVZF"), /Base64/],
  ["a sentence", text("The service is overloaded, please try again later."), /this is text, not audio/],
  ["server-sent events", text('data: {"type":"audio","chunk":1}\n\n'), /server-sent events/],
];
const FILES: [name: string, bytes: Uint8Array, words: RegExp][] = [
  ["Ogg", concatBytes([letters("OggS\0\x02"), new Uint8Array(40)]), /this is Ogg/],
  ["FLAC", concatBytes([letters("fLaC\0\0\0\x22\x10\0\x10\0"), new Uint8Array(40)]), /this is FLAC/],
  ["MP4", concatBytes([letters("\0\0\0\x20ftypM4A \0\0\0\0"), new Uint8Array(40)]), /this is MP4/],
  ["WebM of a browser", concatBytes([letters("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01")]), /this is WebM/],
  ["AIFF", concatBytes([letters("FORM\0\0\x10\0AIFFCOMM"), new Uint8Array(20)]), /this is AIFF/],
  ["AMR", letters("#!AMR\n\x3c\x08\x1e\x5b\x33\x21") as unknown as Uint8Array, /this is AMR/],
  ["a PNG image", concatBytes([letters("\x89PNG\r\n\x1a\n\0\0\0\x0d")]), /PNG/],
];

/** Frames with this header and random contents. */
function frames(header: readonly number[], length: number, count = 20): Uint8Array {
  const next = random(length);
  const frame = (): Uint8Array => {
    const bytes = Uint8Array.from({ length }, () => next() * 256);
    bytes.set(header);
    return bytes;
  };
  return concatBytes(Array.from({ length: count }, frame));
}

const CODED_AUDIO: [name: string, bytes: Uint8Array, words: RegExp][] = [
  ["AAC", frames([0xff, 0xf1, 0x50, 0x80, 0x19, 0x1f, 0xfc], 200), /this is AAC/],
  ["MPEG layer II", frames([0xff, 0xfd, 0x80, 0x04], 417), /this is MPEG layer II:/],
  ["MPEG layer I", frames([0xff, 0xff, 0x40, 0x04], 136), /this is MPEG layer I:/],
  ["free-format MP3", frames([0xff, 0xfb, 0x00, 0x44], 522), /this is free-format MP3/],
  ["gzip", concatBytes([[0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3], frames([], 400, 1)]), /this is gzip/],
];

describe("at the start of a stream", () => {
  for (const encoding of [undefined, ...STREAM_ENCODINGS]) {
    const options = { encoding, mp3: async () => ({ push: () => [], close() {} }) };
    test.each(CODED_AUDIO)(`%s is refused by name (${encoding ?? "no encoding"})`, async (_, bytes, words) => {
      for (const size of [1, 333, 1_000, 100_000]) {
        const { refusal, samples } = await play(splitInto(bytes, size), options);
        if (encoding === "mp3" && words.test("this is gzip")) continue;
        expect(refusal, `in messages of ${size} bytes`).toMatch(words);
        expect(samples.length).toBe(0);
      }
    });

    test(`short text is refused (${encoding ?? "no encoding"})`, async () => {
      const { refusal, samples } = await play([text("Internal Server Error")], options);
      expect([refusal, samples.length]).toEqual([
        "this is text, not audio: check the response of your audio source",
        0,
      ]);
    });
  }

  test.each(CODED_AUDIO.slice(0, 4))("%s after samples is refused by name", async (_, bytes, words) => {
    const { refusal } = await play([pcmToBytes(sound(100)), ...splitInto(bytes, 4_000)]);
    expect(refusal).toMatch(words);
  });
});

describe("instead of samples", () => {
  for (const encoding of [undefined, ...STREAM_ENCODINGS]) {
    const options = { encoding, mp3: async () => ({ push: () => [], close() {} }) };
    test.each([...TEXTS, ...FILES])(`%s is refused by name (${encoding ?? "no encoding"})`, async (_, bytes, words) => {
      const first = await play([Uint8Array.from(bytes)], options);
      expect(first.refusal).toMatch(words);
      expect(first.samples.length).toBe(0);
      if (encoding === "mp3") return;
      const laterAudio = await play([pcmToBytes(sound(100)), Uint8Array.from(bytes)], options);
      expect(laterAudio.refusal).toMatch(words);
      expect(laterAudio.samples.length, "only what came before it").toBe(
        encoding === "mulaw" || encoding === "alaw" ? 3_200 : 1_600,
      );
    });
  }

  describe.each(SAMPLE_ENCODINGS)("declared as %s", (encoding) => {
    test.each([
      ["with a tag", TAGGED_MP3],
      ["without a tag", MP3],
      ["with an APE tag", concatBytes([letters("APETAGEX\xd0\x07\0\0"), new Uint8Array(400), MP3])],
    ])("an MP3 %s is refused by name", async (_, bytes) => {
      for (const size of [1, 160, 4_096, 65_536]) {
        const { refusal, samples } = await play(splitInto(bytes, size), { encoding });
        expect(refusal, `in messages of ${size} bytes`).toMatch(/this is MP3.*, not .*encoding=mp3/);
        expect(samples.length).toBe(0);
      }
    });

    test("an MP3 after samples is refused, however it is cut", async () => {
      const before = sampleCoding(encoding).encode(sound(500));
      for (const mp3 of [MP3, TAGGED_MP3, MP3.subarray(333)]) {
        const isAligned = mp3.length !== MP3.length - 333;
        for (const size of isAligned ? [160, 640, 4_096, 65_536] : [4_096, 65_536]) {
          const { refusal, samples } = await play([before, ...splitInto(mp3, size)], { encoding });
          expect(refusal, `in messages of ${size} bytes`).toMatch(/this is MP3/);
          const garbageSamples = samples.length - 8_000;
          expect(garbageSamples * sampleCoding(encoding).bytesPerSample).toBeLessThan(size > 1_500 ? 1 : 4 * 1_441);
        }
      }
    });
  });
});

describe("a WAV file", () => {
  const wav = (rate: number, ms: number, samples?: number): Uint8Array =>
    concatBytes([wavHeader({ sampleRate: rate, samples }), pcmToBytes(sound(ms, rate))]);
  const options = [undefined, ...STREAM_ENCODINGS].flatMap((encoding) =>
    [1, 44, 640, 100_000].map((size) => ({ encoding, size })),
  );

  test.each(options)("is decoded at its own rate ($encoding, messages of $size bytes)", async ({ encoding, size }) => {
    for (const bytes of [wav(22_050, 500), wav(22_050, 500, 11_025), wav(22_050, 500, 2 ** 29)]) {
      const { samples, rates, refusal } = await play(splitInto(bytes, size), { encoding });
      expect([refusal, rates]).toEqual([undefined, [22_050]]);
      expect(samples).toEqual(sound(500, 22_050));
    }
  });

  test.each(SAMPLE_ENCODINGS)("is decoded in the middle of %s, wherever its header starts", async (encoding) => {
    const before = sampleCoding(encoding).encode(sound(200));
    for (const messages of [[before, wav(8_000, 300)], [concatBytes([before, wav(8_000, 300)])]]) {
      const { samples, rates, refusal } = await play(messages, { encoding });
      expect([refusal, rates]).toEqual([undefined, [16_000, 8_000]]);
      expect(samples.subarray(3_200)).toEqual(sound(300, 8_000));
    }
  });

  test("has no clicks if each message repeats its header", async () => {
    const pieces = splitInto(pcmToBytes(sound(1_000, 24_000)), 4_800);
    for (const samples of [undefined, 2_400, 24_000]) {
      const messages = pieces.map((piece) => concatBytes([wavHeader({ sampleRate: 24_000, samples }), piece]));
      const playedAudio = await play(messages);
      expect(playedAudio.samples).toEqual(sound(1_000, 24_000));
      expect(playedAudio.rates).toEqual([24_000]);
    }
  });

  test("is decoded if it has mu-law, or 24 bits and two channels", async () => {
    const frames = Array.from(sound(400, 8_000), (value) => [value / 32_768, value / 32_768]);
    for (const recipe of [
      { tag: 1, bits: 24, channels: 2 },
      { tag: 7, bits: 8, channels: 2 },
    ]) {
      const { samples } = await play([buildWav({ ...recipe, frames, sampleRate: 8_000 })]);
      expect(samples.length).toBe(3_200);
      expect(toneShare(samples, HZ, 8_000)).toBeGreaterThan(0.98);
    }
  });

  test("is refused by name if it cannot be decoded", async () => {
    const frames = Array.from({ length: 100 }, () => [0]);
    const bytes = buildWav({ tag: 1, bits: 16, frames });
    bytes.set([0x11, 0], 20);
    expect((await play([bytes])).refusal).toMatch(/IMA ADPCM/);
    bytes.set(letters("RIFX"));
    expect((await play([bytes])).refusal).toMatch(/RIFX/);
  });

  test.each([
    ["JSON", text('{"error":{"message":"Invalid API key"}}'), /text \(JSON\)/],
    ["an MP3 with a tag", TAGGED_MP3, /header precedes other audio: this is MP3/],
    ["an MP3 without a tag", frames([0xff, 0xfb, 0x90, 0x44], 417), /this is MP3/],
    ["Ogg", concatBytes([letters("OggS\0\x02"), new Uint8Array(40)]), /this is Ogg/],
  ])("is refused if its header precedes %s", async (_, body, words) => {
    const file = concatBytes([wavHeader({ sampleRate: 16_000 }), body]);
    for (const messages of [[file], [pcmToBytes(sound(100)), file], splitInto(file, 2_000)])
      expect((await play(messages)).refusal).toMatch(words);
  });

  test("is followed by samples of the declared format", async () => {
    const laterSamples = sound(300, 8_000);
    const { samples, rates } = await play(
      [wav(22_050, 500, 11_025), encodeMulaw(laterSamples), encodeMulaw(laterSamples)],
      {
        encoding: "mulaw",
        sampleRate: 8_000,
      },
    );
    expect(rates).toEqual([22_050, 8_000]);
    expect(samples.length).toBe(11_025 + 4_800);
  });
});

describe("the end", () => {
  /** Pushes messages, ends the audio, and returns the samples and the ignored bytes. */
  async function endOf(messages: readonly Uint8Array[], options: Partial<IncomingAudioOptions> = {}) {
    const chunks: Int16Array[] = [];
    const audio = new IncomingAudio({
      encoding: undefined,
      sampleRate: 16_000,
      mp3: undefined,
      onDecoded: (samples) => chunks.push(samples),
      ...options,
    });
    for (const message of messages) await audio.push(message);
    return { ignored: audio.end(), samples: concatPcm(chunks) };
  }

  test("decodes the samples if there are only a few", async () => {
    const { ignored: notices, samples } = await endOf([pcmToBytes(Int16Array.of(1, 2, 3))]);
    expect([notices, samples]).toEqual([[], Int16Array.of(1, 2, 3)]);
  });

  test("reports half a sample, both of PCM and of a WAV file", async () => {
    const oddByte = [{ reason: "incomplete", bytes: 1 }];
    const oddLength = pcmToBytes(sound(100)).subarray(0, 1_001);
    expect(await endOf([oddLength])).toEqual({ ignored: oddByte, samples: sound(100).subarray(0, 500) });
    const wav = concatBytes([wavHeader({ sampleRate: 16_000 }), oddLength]);
    expect(await endOf([wav])).toEqual({ ignored: oddByte, samples: sound(100).subarray(0, 500) });
  });

  test("reports the bytes of an MP3 that has no frames yet, and those its decoder ignored", async () => {
    expect((await endOf([MP3.subarray(0, 100)], { encoding: "mp3" })).ignored).toEqual([
      { reason: "incomplete", bytes: 100 - 45 }, // without the tag
    ]);
    const ignoredBytes = [{ reason: "broken_frames", bytes: 417 }] as const;
    const mp3 = async () => ({ push: () => [], ignored: ignoredBytes, close() {} });
    expect((await endOf([MP3], { encoding: "mp3", mp3 })).ignored).toEqual(ignoredBytes);
  });

  test("does not report bytes that a reset has dropped", async () => {
    const audio = new IncomingAudio({ encoding: undefined, sampleRate: 8_000, mp3: undefined, onDecoded: () => {} });
    void audio.push(new Uint8Array(1_001));
    audio.reset();
    expect(audio.end()).toEqual([]);
  });
});

describe("after a reset", () => {
  test("half a sample is dropped, and the next bytes start a new one", async () => {
    const chunks: Int16Array[] = [];
    const audio = new IncomingAudio({
      encoding: undefined,
      sampleRate: 16_000,
      mp3: undefined,
      onDecoded: (samples) => chunks.push(samples),
    });
    void audio.push(pcmToBytes(sound(100)).subarray(0, 1_001));
    audio.reset();
    chunks.length = 0;
    void audio.push(pcmToBytes(sound(100)));
    expect(concatPcm(chunks)).toEqual(sound(100));
  });
});

/** Realistic samples: noise of any level, voices, tones whose period divides frames, an offset, silence, full scale. */
function realSamples(seed: number): Int16Array {
  const next = random(seed);
  const level = 2 ** (15 * next());
  const length = 4_000;
  switch (seed % 6) {
    case 0:
      return whiteNoise(length, level, seed);
    case 1:
      return babble(500, 8_000, level, seed);
    case 2: {
      const period = 3 + Math.floor(next() * 60);
      const phase = next() * 7;
      return Int16Array.from({ length }, (_, i) => level * Math.sin((2 * Math.PI * (i + phase)) / period) * 0.99);
    }
    case 3: {
      const offset = (next() - 0.5) * 400;
      return whiteNoise(length, 1 + 30 * next(), seed).map((sample) => sample + offset);
    }
    case 4: {
      const period = 2 + Math.floor(next() * 200);
      return Int16Array.from({ length }, (_, i) => (i % period < period / 2 ? level : -level));
    }
    default: {
      const slope = (next() - 0.5) * 300;
      return Int16Array.from({ length }, (_, i) => i * slope);
    }
  }
}

const ENCODERS: Readonly<Record<SampleEncoding, (samples: Int16Array) => Uint8Array>> = {
  pcm_s16le: pcmToBytes,
  mulaw: (samples) => encodeMulaw(samples),
  alaw: (samples) => encodeAlaw(samples),
};

describe("real samples are never refused", () => {
  test.each(SAMPLE_ENCODINGS)("as %s, cut anywhere", { timeout: 60_000 }, async (encoding) => {
    const rounds = environment.FC_RUNS === undefined ? 600 : 6 * Number(environment.FC_RUNS);
    for (let seed = 0; seed < rounds; seed++) {
      const bytes = ENCODERS[encoding](realSamples(seed));
      const size = 1 + Math.floor(random(seed + 1)() * (seed % 5 === 0 ? 4_000 : 400));
      const { refusal, samples } = await play(splitInto(bytes, size), { encoding });
      expect(refusal, `seed ${seed}, messages of ${size} bytes`).toBeUndefined();
      expect(samples.length).toBe(4_000);
    }
  });

  fuzz(
    "even as arbitrary bytes that do not begin like a file",
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 4_000, size: "max" }),
      fc.integer({ min: 1, max: 700 }),
      fc.constantFrom(...SAMPLE_ENCODINGS),
      async (bytes, size, encoding) => {
        expect((await play(splitInto(bytes, size), { encoding })).refusal).toBeUndefined();
      },
    ),
  );
});

describe("hostile messages", () => {
  const pieces = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ maxLength: 300 }).map(text),
    fc.json().map(text),
    fc.constantFrom(...[...TEXTS, ...FILES].map(([, bytes]) => Uint8Array.from(bytes)), MP3.subarray(0, 1_000)),
    fc.constantFrom(wavHeader({ sampleRate: 8_000 }), Uint8Array.of(0xff, 0xfb, 0x90, 0xc4)),
  );
  fuzz(
    "are decoded or refused, and yield at most one sample per byte",
    fc.asyncProperty(
      fc.array(fc.array(pieces, { maxLength: 4 }).map(concatBytes), { maxLength: 8 }),
      fc.constantFrom(undefined, ...SAMPLE_ENCODINGS),
      async (messages, encoding) => {
        const { samples } = await play(messages, { encoding });
        expect(samples.length).toBeLessThanOrEqual(messages.reduce((sum, { length }) => sum + length, 0));
      },
    ),
  );

  test.each([
    ["bytes of 255", new Uint8Array(2 ** 20).fill(0xff)],
    ["headers of frames", concatBytes(Array.from({ length: 2 ** 16 }, () => [0xff, 0xfb, 0x90, 0x44]))],
    ["spaces", new Uint8Array(2 ** 20).fill(0x20)],
    ["words", text("a ".repeat(2 ** 19))],
    ["opening brackets", text('[{"'.repeat(2 ** 18))],
    ["numbers", text(`[${"1".repeat(2 ** 20)}`)],
    ["the beginning of WAV headers", text("RIFF".repeat(2 ** 18))],
  ])("of %s are examined quickly", (_, message) => {
    const watch = new CodedAudioWatch();
    const startMs = processorMs();
    for (let i = 0; i < 20; i++) {
      namedText(message);
      namedFile(message, "anywhere");
      watch.push(message);
    }
    // 20 MB: quadratic time, or a backtracking regular expression, would take minutes.
    expect(processorMs() - startMs).toBeLessThan(5_000);
  });
});
