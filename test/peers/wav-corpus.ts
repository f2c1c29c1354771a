import { wavHeader } from "../../src/audio/wav/wav-header.ts";
import { buildWav, chunk, concatBytes, letters, type WavRecipe } from "../audio/wav/wav-files.ts";
import { sampleFrames } from "./sample-voice.ts";

/** A file for the comparison with another decoder. */
export interface CorpusFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Files with the same sound when concatenated, for a decoder that only reads part of this one. Default: the file itself. */
  readonly equivalentFiles?: readonly Uint8Array[];
  /** Pattern of the message with which a stream and a speech server's response may be refused instead. */
  readonly refusal?: RegExp;
}

type Recipe = Omit<WavRecipe, "frames" | "tag" | "bits"> & Partial<Pick<WavRecipe, "tag" | "bits">>;

/** Channels of the masks that recorders write, and the usual ones of files without a mask (0). */
const LAYOUTS: readonly (readonly [name: string, channels: number, mask: number])[] = [
  ["mono", 1, 0x4],
  ["stereo", 2, 0x3],
  ["2.1", 3, 0xb],
  ["3.0", 3, 0x7],
  ["3.0 (back)", 3, 0x103],
  ["3.1", 4, 0xf],
  ["4.0", 4, 0x107],
  ["quad", 4, 0x33],
  ["quad (side)", 4, 0x603],
  ["4.1", 5, 0x10f],
  ["5.0", 5, 0x37],
  ["5.0 (side)", 5, 0x607],
  ["5.1", 6, 0x3f],
  ["5.1 (side)", 6, 0x60f],
  ["6.0", 6, 0x707],
  ["6.0 (front)", 6, 0x6c3],
  ["hexagonal", 6, 0x137],
  ["6.1", 7, 0x70f],
  ["6.1 (back)", 7, 0x13f],
  ["7.0", 7, 0x637],
  ["7.1", 8, 0x63f],
  ["7.1 (wide)", 8, 0xff],
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((channels) => [`${channels} channels without a mask`, channels, 0] as const),
];
/** Bit of the subwoofer in a mask. */
const SUBWOOFER = 0x8;

const ENCODINGS = [
  { tag: 1, bits: 8 },
  { tag: 1, bits: 16 },
  { tag: 1, bits: 24 },
  { tag: 1, bits: 32 },
  { tag: 3, bits: 32 },
  { tag: 3, bits: 64 },
  { tag: 6, bits: 8 },
  { tag: 7, bits: 8 },
] as const;
const RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000];
const PLACEHOLDERS = [0, 0xffff_ffff, 0x7fff_ffff, 2_000_000_000, 0x7fff_f024, 0x8000_0000];

/** The sample voice in a WAV file; `seed` changes its words. */
export function voiceWav(recipe: Recipe = {}, seed = 0, ms = 700): Uint8Array<ArrayBuffer> {
  const { channels = 1, sampleRate = 8_000 } = recipe;
  const frames = sampleFrames({ channels, sampleRate, ms, seed });
  return buildWav({ tag: 1, bits: 16, ...recipe, frames });
}

/** A WAV file whose header has other values at these offsets. */
function withEdits(
  file: Uint8Array,
  ...edits: readonly (readonly [at: number, value: number, bytes: 2 | 4])[]
): Uint8Array {
  const copy = file.slice();
  const view = new DataView(copy.buffer);
  for (const [at, value, bytes] of edits) {
    if (bytes === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
  }
  return copy;
}

function encodings(): CorpusFile[] {
  let rateIndex = 0;
  return ENCODINGS.flatMap(({ tag, bits }) =>
    [1, 2].flatMap((channels) =>
      [false, true].map((extensible) => {
        const sampleRate = RATES[rateIndex++ % RATES.length]!;
        return {
          name: `format ${tag} of ${bits} bits, ${channels} channels, ${sampleRate} Hz${extensible ? ", extensible" : ""}`,
          bytes: voiceWav({ tag, bits, channels, sampleRate, extensible }),
        };
      }),
    ),
  );
}

/** The voice in one channel of each layout, and in all of them. */
function layouts(): CorpusFile[] {
  const voices = sampleFrames({ channels: 8, sampleRate: 16_000, ms: 250 });
  return LAYOUTS.flatMap(([name, channels, mask]) => {
    const speakers = Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter((bit) => mask & bit);
    const isSilent = (channel: number): boolean => speakers[channel] === SUBWOOFER;
    // Assumed subwoofers are treated separately.
    const singleChannels = Array.from({ length: channels }, (_, channel) => channel).filter(
      (channel) => !isSilent(channel) && (mask !== 0 || channels < 3 || channel < 2),
    );
    const file = (activeChannel: number | undefined): Uint8Array => {
      const frames = voices.map((frame) =>
        frame
          .slice(0, channels)
          .map((value, channel) => (activeChannel === undefined || channel === activeChannel ? value : 0)),
      );
      const wav = buildWav({ tag: 1, bits: 16, channels, sampleRate: 16_000, extensible: mask !== 0, frames });
      return mask === 0 ? wav : withEdits(wav, [40, mask, 4]);
    };
    return [undefined, ...singleChannels].map((activeChannel) => ({
      name: `${name}: the voice in ${activeChannel === undefined ? "all channels" : `channel ${activeChannel + 1} of ${channels}`}`,
      bytes: file(activeChannel),
    }));
  });
}

function headers(): CorpusFile[] {
  const plainFile = voiceWav();
  const equivalentFiles = [plainFile];
  const stereo = voiceWav({ channels: 2, sampleRate: 44_100 });
  const samples = plainFile.subarray(44);
  const header = (placeholder: number): Uint8Array =>
    withEdits(wavHeader({ sampleRate: 8_000 }), [4, placeholder, 4], [40, placeholder, 4]);
  const half = samples.length / 2;
  return [
    { name: "RF64", bytes: voiceWav({ container: "RF64", sampleRate: 16_000 }) },
    ...[0, 1, 4].map((align) => ({
      name: `block align ${align}`,
      bytes: withEdits(plainFile, [32, align, 2]),
      equivalentFiles,
    })),
    ...[1, 2].map((align) => ({
      name: `stereo with block align ${align}`,
      bytes: withEdits(stereo, [32, align, 2]),
      equivalentFiles: [stereo],
    })),
    ...[0, 8_000, 1].map((rate) => ({
      name: `byte rate ${rate}`,
      bytes: withEdits(plainFile, [28, rate, 4]),
      equivalentFiles,
    })),
    ...PLACEHOLDERS.flatMap((length) => [
      { name: `placeholder ${length}`, bytes: concatBytes([header(length), samples]), equivalentFiles },
      {
        name: `placeholder ${length} before each piece`,
        bytes: concatBytes([header(length), samples.subarray(0, half), header(length), samples.subarray(half)]),
        equivalentFiles,
      },
    ]),
    ...[2, 1_600, 4_000].map((length) => ({
      name: `a claim of ${length} bytes`,
      bytes: withEdits(plainFile, [40, length, 4]),
      equivalentFiles,
    })),
    ...[8, 36, 44].map((extraBytes) => ({
      name: `a claim of ${extraBytes} bytes more`,
      bytes: withEdits(plainFile, [40, samples.length + extraBytes, 4]),
      equivalentFiles,
    })),
  ];
}

function chunks(): CorpusFile[] {
  const equivalentFiles = [voiceWav()];
  const list = chunk("LIST", letters("INFOISFT\x06\0\0\0writer"));
  const chunksBefore: readonly (readonly [string, Uint8Array])[] = [
    ["LIST", list],
    ["bext of odd length", chunk("bext", new Array<number>(603).fill(65))],
    ["JUNK of odd length without a pad byte", Uint8Array.from(letters("JUNK\x03\0\0\0abc"))],
    ["28 KB of JUNK", chunk("JUNK", new Uint8Array(28_000))],
    ["fact", chunk("fact", [0, 0, 0, 0])],
  ];
  const chunksAfter: readonly (readonly [string, Uint8Array])[] = [
    ["LIST", list],
    ["id3", chunk("id3 ", letters(`ID3\x03\0\0\0\0\0\x0a${"\0".repeat(10)}`))],
    ["ID3v1", concatBytes([letters("TAG"), new Uint8Array(125).fill(0x41)])],
    ["ID3v2", concatBytes([letters("ID3\x03\0\0\0\0\x01\0"), new Uint8Array(128)])],
    ["zeros", new Uint8Array(500)],
    ["empty data chunks", concatBytes(new Array<Uint8Array>(20).fill(chunk("data", [])))],
  ];
  const samples = equivalentFiles[0]!.subarray(44);
  const [first, second] = [samples.subarray(0, 4_000), samples.subarray(4_000)];
  return [
    ...chunksBefore.map(([name, part]) => ({
      name: `${name} before the data`,
      bytes: voiceWav({ before: [part] }),
      equivalentFiles,
    })),
    ...chunksAfter.map(([name, part]) => ({
      name: `${name} after the data`,
      bytes: concatBytes([equivalentFiles[0]!, part]),
      equivalentFiles,
    })),
    {
      name: "two data chunks with another one between them",
      bytes: concatBytes([equivalentFiles[0]!.subarray(0, 36), chunk("data", first), list, chunk("data", second)]),
      equivalentFiles,
    },
  ];
}

/** Samples of 24, 20 and 12 bits in containers of 4, 3 and 2 bytes, at either end of them. */
function containers(): CorpusFile[] {
  const values = sampleFrames({ channels: 1, sampleRate: 8_000, ms: 700 }).map(([value = 0]) => value);
  const equivalentFiles = [voiceWav()];
  const kinds = [
    [24, 4],
    [20, 4],
    [20, 3],
    [12, 2],
  ] as const;
  return kinds.flatMap(([bits, container]) =>
    [false, true].flatMap((isLow) =>
      [false, true].map((extensible) => {
        const data = concatBytes(
          values.map((value) => {
            const containerValue =
              Math.round(value * (2 ** (bits - 1) - 1)) * (isLow ? 1 : 2 ** (8 * container - bits));
            return Array.from({ length: container }, (_, byte) => Math.floor(containerValue / 256 ** byte) & 255);
          }),
        );
        const head = buildWav({ tag: 1, bits: 8 * container, extensible, frames: [], dataSize: data.length });
        const align = extensible || bits !== 24 ? [] : ([[32, container, 2]] as const);
        const end = isLow ? "low" : "high";
        return {
          name: `${bits} bits at the ${end} end of ${container} bytes${extensible ? ", extensible" : ""}`,
          bytes: concatBytes([withEdits(head, [extensible ? 38 : 34, bits, 2], ...align), data]),
          equivalentFiles,
        };
      }),
    ),
  );
}

function joinedFiles(): CorpusFile[] {
  const parts = ENCODINGS.map(({ tag, bits }, i) =>
    voiceWav({ tag, bits, channels: 1 + (i % 2), sampleRate: RATES[i]!, extensible: i % 3 === 0 }, i, 400),
  );
  return parts.map((first, i) => {
    const second = parts[(i + 3) % parts.length]!;
    return { name: `joined files ${i + 1}`, bytes: concatBytes([first, second]), equivalentFiles: [first, second] };
  });
}

/** Channels that cancel each other out: the other decoder gets one of them. */
function invertedFiles(): CorpusFile[] {
  const frames = sampleFrames({ channels: 1, sampleRate: 8_000, ms: 700 });
  return [1, 0.9].map((share) => ({
    name: `stereo, the right channel inverted at a level of ${share}`,
    bytes: buildWav({ tag: 1, bits: 16, channels: 2, frames: frames.map(([value = 0]) => [value, -share * value]) }),
    equivalentFiles: [voiceWav()],
  }));
}

/** WAV files with all variants that recorders, speech servers and editors write. */
export const WAV_CORPUS: readonly CorpusFile[] = [
  ...encodings(),
  ...layouts(),
  ...headers(),
  ...chunks(),
  ...containers(),
  ...joinedFiles(),
  ...invertedFiles(),
];
