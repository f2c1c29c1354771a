import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IncomingAudio, type IncomingAudioOptions, NotAudio } from "../../src/audio/incoming-audio.ts";
import { MULAW_LEVELS } from "../../src/audio/samples/g711-companding.ts";
import { concatPcm, pcmFromBytes, pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { SAMPLE_ENCODINGS, STREAM_ENCODINGS } from "../../src/audio/samples/stream-format.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import { AudioUnsupported, type Mp3Stream } from "../../src/ports/audio-decoder.ts";
import { fuzz } from "../support/fuzz.ts";
import { random } from "../support/random.ts";
import { refusal } from "../support/refusal.ts";
import { whiteNoise } from "./noise.ts";
import { concatBytes, letters } from "./wav/wav-files.ts";

/** A fake decoder that returns one sample per byte, to show its input. */
class ByteDecoder implements Mp3Stream {
  readonly slices: number[] = [];
  closeCount = 0;

  push(bytes: Uint8Array) {
    this.slices.push(bytes.length);
    return [{ samples: Int16Array.from(bytes), sampleRate: 44_100 }];
  }

  close(): void {
    this.closeCount++;
  }
}

interface PlayedAudio {
  readonly samples: Int16Array;
  readonly rates: readonly number[];
}

async function play(pieces: readonly Uint8Array[], options: Partial<IncomingAudioOptions> = {}): Promise<PlayedAudio> {
  const chunks: Int16Array[] = [];
  const rates = new Set<number>();
  const audio = new IncomingAudio({
    encoding: undefined,
    sampleRate: 16_000,
    mp3: async () => new ByteDecoder(),
    onDecoded(samples, sampleRate) {
      chunks.push(samples);
      rates.add(sampleRate);
    },
    ...options,
  });
  try {
    for (const piece of pieces) await audio.push(piece);
  } finally {
    audio.close();
  }
  return { samples: concatPcm(chunks), rates: [...rates] };
}

const byteByByte = (bytes: Uint8Array): Uint8Array[] => Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));

/** The bytes in pieces that end at these positions. */
function cutAt(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const ends = [...positions.map((position) => position % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

const cuts = fc.array(fc.nat(), { maxLength: 40 });
/** Sound that does not start with a file signature. */
const sound = fc.uint8Array({ minLength: 12, maxLength: 2000 }).map((bytes) => {
  bytes[0] = 7;
  bytes[4] = 7;
  return bytes;
});

/** A layer III frame of 417 bytes: MPEG 1, 44.1 kHz, 128 kbit/s. */
const FRAME = new Uint8Array(417);
FRAME.set([0xff, 0xfb, 0x90, 0xc4]);
const FRAMES = concatBytes([FRAME, FRAME, FRAME, FRAME]);

function id3(size: number): Uint8Array {
  const sizeBytes = [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f);
  return concatBytes([letters("ID3\x04\x00\x00"), sizeBytes, new Uint8Array(size)]);
}

describe("16-bit PCM", () => {
  fuzz(
    "yields the same samples wherever it is cut, declared or not",
    fc.asyncProperty(
      sound,
      cuts,
      fc.constantFrom("pcm_s16le" as const, undefined),
      async (bytes, positions, encoding) => {
        const { samples } = await play(cutAt(bytes, positions), { encoding });
        expect(samples).toEqual(pcmFromBytes(bytes));
      },
    ),
  );

  test.each([8000, 16_000, 24_000, 48_000])("keeps its rate of %i Hz", async (sampleRate) => {
    const samples = tone(440, 100, sampleRate, 8000);
    const output = await play(byteByByte(pcmToBytes(samples)), { encoding: "pcm_s16le", sampleRate });
    expect(output).toEqual({ samples, rates: [sampleRate] });
  });

  test("is decoded from its first message on, with at most 12 bytes held back", async () => {
    const bytes = pcmToBytes(tone(440, 20, 16_000, 8000));
    for (const encoding of ["pcm_s16le", undefined] as const) {
      for (let length = 12; length < 40; length++)
        expect((await play([bytes.subarray(0, length)], { encoding })).samples.length).toBe(length >> 1);
    }
  });

  test("of noise starts at once and is never mistaken for an MP3", async () => {
    let lateCount = 0;
    for (let i = 0; i < 600; i++) {
      const noise = whiteNoise(2000, 2 ** (i % 15), i);
      const bytes = pcmToBytes(noise);
      const { samples } = await play([bytes]);
      expect(samples).toEqual(noise);
      if ((await play([bytes.subarray(0, 12)])).samples.length === 0) lateCount++;
    }
    expect(lateCount).toBeLessThanOrEqual(2);
  });

  test("is held back if it starts like an MP3 frame, until the next frame is missing", async () => {
    const bytes = new Uint8Array(3000);
    bytes.set([0xff, 0xfb, 0x90, 0xc4]);
    expect((await play([bytes.subarray(0, 417)])).samples.length).toBe(0);
    expect((await play([bytes.subarray(0, 422)])).samples).toEqual(pcmFromBytes(bytes.subarray(0, 422)));
    expect((await play(byteByByte(bytes))).samples).toEqual(pcmFromBytes(bytes));
    expect((await play([bytes.subarray(0, 422)], { encoding: "pcm_s16le" })).samples.length).toBe(211);
  });

  test("of silence is decoded as samples", async () => {
    expect((await play(byteByByte(new Uint8Array(640)))).samples).toEqual(new Int16Array(320));
  });
});

describe("mu-law", () => {
  fuzz(
    "is decoded exactly wherever it is cut",
    fc.asyncProperty(sound, cuts, async (bytes, positions) => {
      const { samples, rates } = await play(cutAt(bytes, positions), { encoding: "mulaw", sampleRate: 8000 });
      expect(samples).toEqual(Int16Array.from(bytes, (code) => MULAW_LEVELS[code] ?? 0));
      expect(rates).toEqual([8000]);
    }),
  );
});

describe("an MP3", () => {
  const files: [string, Uint8Array][] = [
    ["frames", FRAMES],
    ["a tag and frames", concatBytes([id3(300), FRAMES])],
    ["two tags and frames", concatBytes([id3(20), id3(10_000), FRAMES])],
    ["a tag of 1 MB and frames", concatBytes([id3(1_000_000), FRAMES])],
  ];
  test.each(files)("is recognised by its first bytes: %s", async (_, file) => {
    const { samples, rates } = await play([file]);
    expect([samples, rates]).toEqual([Int16Array.from(FRAMES), [44_100]]);
  });

  fuzz(
    "reaches the decoder from its first frame on, wherever it is cut",
    fc.asyncProperty(
      fc.constantFrom(...files.slice(0, 3).map(([, file]) => file)),
      cuts,
      fc.constantFrom("mp3" as const, undefined),
      async (file, positions, encoding) => {
        expect((await play(cutAt(file, positions), { encoding })).samples).toEqual(Int16Array.from(FRAMES));
      },
    ),
  );

  test("reaches the decoder from its first frame on if it arrives byte by byte", async () => {
    for (const [, file] of files.slice(0, 3)) {
      expect((await play(byteByByte(file))).samples).toEqual(Int16Array.from(FRAMES));
    }
  });

  test("may start in the middle of a frame if it is declared", async () => {
    const { samples } = await play([concatBytes([FRAME.subarray(200), FRAMES])], { encoding: "mp3" });
    expect(samples).toEqual(Int16Array.from(FRAMES));
  });

  test("is decoded in slices of at most 4 KiB, one per turn", async () => {
    const decoder = new ByteDecoder();
    const turns: number[] = [];
    const push = decoder.push.bind(decoder);
    let turn = 0;
    let isRunning = true;
    const count = (): void => {
      turn++;
      if (isRunning) setImmediate(count);
    };
    setImmediate(count);
    decoder.push = (bytes) => {
      turns.push(turn);
      return push(bytes);
    };
    const allFrames = concatBytes(Array.from({ length: 50 }, () => FRAMES));
    const { samples } = await play([allFrames.subarray(0, 60_000), allFrames.subarray(60_000)], {
      mp3: async () => decoder,
    });
    isRunning = false;
    expect(samples).toEqual(Int16Array.from(allFrames));
    expect(Math.max(...decoder.slices)).toBeLessThanOrEqual(4096);
    for (let i = 1; i < turns.length; i++) {
      if ((decoder.slices[i - 1] ?? 0) + (decoder.slices[i] ?? 0) > 4096)
        expect(turns[i], `slice ${i}`).toBeGreaterThan(turns[i - 1] ?? 0);
    }
  });

  test("in small messages is decoded at once, with a pause every 4 KiB", async () => {
    const promises: unknown[] = [];
    const audio = new IncomingAudio({
      encoding: "mp3",
      sampleRate: 16_000,
      mp3: async () => new ByteDecoder(),
      onDecoded: () => {},
    });
    await audio.push(FRAMES);
    for (let i = 0; i < 40; i++) {
      const pending = audio.push(FRAME);
      if (pending) promises.push(await pending);
    }
    expect(promises.length).toBeGreaterThanOrEqual(3);
    expect(promises.length).toBeLessThanOrEqual(5);
    audio.close();
  });

  test("opens its decoder on arrival, and frees it once", async () => {
    const decoder = new ByteDecoder();
    let openedCount = 0;
    const mp3 = async (): Promise<Mp3Stream> => {
      openedCount++;
      return decoder;
    };
    await play([pcmToBytes(tone(440, 100, 16_000, 8000))], { mp3 });
    expect(openedCount).toBe(0);
    const audio = new IncomingAudio({ encoding: undefined, sampleRate: 16_000, mp3, onDecoded: () => {} });
    await audio.push(FRAMES);
    await audio.push(FRAMES);
    audio.close();
    audio.close();
    await audio.push(FRAMES);
    expect([openedCount, decoder.closeCount]).toEqual([1, 1]);
  });

  test("frees its decoder if it closes early", async () => {
    for (const atOnce of [true, false]) {
      const decoder = new ByteDecoder();
      let heardSamples = 0;
      const audio = new IncomingAudio({
        encoding: "mp3",
        sampleRate: 16_000,
        mp3: async () => decoder,
        onDecoded() {
          heardSamples++;
          audio.close();
        },
      });
      const pending = audio.push(concatBytes(Array.from({ length: 20 }, () => FRAMES)));
      if (atOnce) audio.close();
      await pending;
      expect([heardSamples, decoder.closeCount]).toEqual([atOnce ? 0 : 1, 1]);
    }
  });

  test("is refused without a decoder", async () => {
    for (const encoding of ["mp3", undefined] as const) {
      const error = await refusal(play([FRAMES], { encoding, mp3: undefined }));
      expect(error).toBeInstanceOf(NotAudio);
      expect((error as Error).message).toContain("MP3 cannot be decoded here");
    }
  });

  test("is reported as not audio if the decoder refuses it, and frees the decoder", async () => {
    const decoder = new ByteDecoder();
    decoder.push = () => {
      throw new AudioUnsupported("too much of it is broken");
    };
    const error = await refusal(play([FRAMES], { mp3: async () => decoder }));
    expect(error).toBeInstanceOf(NotAudio);
    expect((error as Error).message).toBe("too much of it is broken");
    expect(decoder.closeCount).toBe(1);
  });
});

describe("a refusal of other bytes, short enough for a close frame,", () => {
  const files: [string, Uint8Array, RegExp][] = [
    ["Ogg", Uint8Array.from(letters("OggS\0\x02\0\0\0\0\0\0\0\0")), /this is Ogg/],
    ["FLAC", Uint8Array.from(letters("fLaC\0\0\0\x22\x10\0\x10\0")), /this is FLAC/],
    ["MP4", Uint8Array.from(letters("\0\0\0\x20ftypM4A \0\0\0\0")), /this is MP4/],
    ["WebM", Uint8Array.from(letters("\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1f")), /this is WebM/],
  ];
  for (const encoding of [...SAMPLE_ENCODINGS, undefined]) {
    test.each(files)(`names %s if ${encoding ?? "no encoding"} was declared`, async (_, file, words) => {
      for (const pieces of [[file], byteByByte(file)]) {
        const error = await refusal(play(pieces, { encoding }));
        expect(error).toBeInstanceOf(NotAudio);
        expect((error as Error).message).toMatch(words);
        expect(new TextEncoder().encode((error as Error).message).length).toBeLessThanOrEqual(123);
      }
    });
  }

  test.each(files)("names %s if MP3 was declared", async (name, file) => {
    const error = await refusal(play(byteByByte(file), { encoding: "mp3" }));
    expect(error).toBeInstanceOf(NotAudio);
    expect((error as Error).message).toMatch(new RegExp(`this is ${name}`));
  });

  test.each(["pcm_s16le", "mulaw"] as const)("names an MP3 with a tag if %s was declared", async (encoding) => {
    const error = await refusal(play([concatBytes([id3(20), FRAMES])], { encoding }));
    expect((error as Error).message).toMatch(/this is MP3, not .*encoding=mp3/);
    expect((error as Error).message.length).toBeLessThanOrEqual(123);
  });

  test("follows within 8 KB of random bytes if MP3 was declared", async () => {
    const next = random(3);
    for (let i = 0; i < 100; i++) {
      const bytes = Uint8Array.from({ length: 8192 }, () => next() * 256);
      const error = await refusal(play(i < 3 ? byteByByte(bytes) : [bytes], { encoding: "mp3" }));
      expect(error).toBeInstanceOf(NotAudio);
      expect((error as Error).message).toMatch(/^no MP3 frames follow each other: this is /);
      expect((error as Error).message.length).toBeLessThanOrEqual(123);
    }
  });

  test("follows immediately for a 256 MB tag, and for a tag before other bytes", async () => {
    const tag = id3(0);
    tag.set([0x7f, 0x7f, 0x7f, 0x7f], 6);
    expect(await refusal(play([concatBytes([tag, new Uint8Array(2)])]))).toMatchObject({
      message: "the ID3 tag claims to be longer than 16 MB",
    });
    const error = await refusal(play([concatBytes([id3(20), letters("fLaC"), new Uint8Array(8192)])]));
    expect((error as Error).message).toBe("no MP3 frames follow each other: this is FLAC");
  });

  test("is final: no samples follow it", async () => {
    let heardSamples = 0;
    const audio = new IncomingAudio({
      encoding: undefined,
      sampleRate: 16_000,
      mp3: undefined,
      onDecoded: () => heardSamples++,
    });
    expect(() => audio.push(Uint8Array.from(letters("fLaC\0\0\0\x22\x10\0\x10\0")))).toThrow(NotAudio);
    expect(audio.push(new Uint8Array(640))).toBeUndefined();
    expect(heardSamples).toBe(0);
  });
});

const hostilePieces = fc.oneof(
  fc.uint8Array({ maxLength: 600 }),
  fc.constantFrom(FRAME, FRAME.subarray(0, 3), id3(3), id3(0).subarray(0, 9), Uint8Array.from(letters("RIFF"))),
);
fuzz(
  "any bytes are decoded or refused, and yield at most one sample per byte",
  fc.asyncProperty(
    fc.array(hostilePieces, { maxLength: 12 }),
    cuts,
    fc.constantFrom(undefined, ...STREAM_ENCODINGS),
    async (parts, positions, encoding) => {
      const bytes = concatBytes(parts);
      const output = await play(cutAt(bytes, positions), { encoding }).catch((error: unknown) => error);
      if (output instanceof Error) expect(output).toBeInstanceOf(NotAudio);
      else expect((output as PlayedAudio).samples.length).toBeLessThanOrEqual(bytes.length);
    },
  ),
);
