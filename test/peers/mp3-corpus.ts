import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chunk, concatBytes, letters } from "../audio/wav/wav-files.ts";
import { run } from "./tools.ts";
import { type CorpusFile, voiceWav } from "./wav-corpus.ts";

const RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];

/** Options of the encoder for each kind of bit rate. */
const BIT_RATES = { CBR: ["-b:a", "64k"], VBR: ["-q:a", "4"], ABR: ["-abr", "1", "-b:a", "56k"] } as const;

/** An APEv2 tag of this size, with its header and its footer. */
function apeTag(size: number): Uint8Array {
  const tagPart = (flags: number): Uint8Array => {
    const bytes = new Uint8Array(32);
    bytes.set(letters("APETAGEX"));
    const view = new DataView(bytes.buffer);
    view.setUint32(8, 2000, true);
    view.setUint32(12, size - 32, true);
    view.setUint32(16, 1, true);
    view.setUint32(20, flags, true);
    return bytes;
  };
  return concatBytes([tagPart(0xa000_0000), new Uint8Array(size - 64).fill(0x42), tagPart(0x8000_0000)]);
}

/** An ID3v2 tag with a body of this size; unless it is plain, only seven bits of each byte of the size count. */
function id3Tag(body: number, version = 3, isPlain = false): Uint8Array {
  const step = isPlain ? 8 : 7;
  const size = [3, 2, 1, 0].map((byte) => (body >> (byte * step)) & (isPlain ? 0xff : 0x7f));
  return concatBytes([
    letters("ID3"),
    [version, 0, 0],
    size,
    letters("TIT2\0\0\0\x06\0\0\0title"),
    new Uint8Array(body - 16),
  ]);
}

/** MP3 files with all variants that encoders, taggers and speech servers write, made by ffmpeg in this folder. */
export function mp3Corpus(folder: string): CorpusFile[] {
  let count = 0;
  const mp3 = (sampleRate: number, channels: number, options: readonly string[], seed = 0): Uint8Array => {
    const input = join(folder, `${++count}.wav`);
    const output = join(folder, `${count}.mp3`);
    writeFileSync(input, voiceWav({ sampleRate, channels }, seed));
    run(...(["ffmpeg", "-v", "error", "-y", "-i"] as const), input, "-c:a", "libmp3lame", ...options, output);
    return new Uint8Array(readFileSync(output));
  };
  const kinds = RATES.flatMap((rate) =>
    [1, 2].flatMap((channels) =>
      Object.entries(BIT_RATES).map(([kind, options]) => ({
        name: `${rate} Hz, ${channels === 1 ? "mono" : "stereo"}, ${kind}`,
        bytes: mp3(rate, channels, options),
      })),
    ),
  );
  const options: readonly (readonly string[])[] = [
    ["-joint_stereo", "0"],
    ["-write_xing", "0"],
    ["-write_xing", "0", "-id3v2_version", "0"],
    ["-id3v2_version", "3", "-metadata", "title=título", "-write_id3v1", "1"],
    ["-id3v2_version", "4", "-metadata", "title=título"],
    ["-reservoir", "0"],
    ["-b:a", "320k"],
  ];
  const plainMp3 = mp3(44_100, 2, ["-id3v2_version", "0"]);
  const equivalentFiles = [plainMp3];
  const id3v1 = concatBytes([letters("TAG"), new Uint8Array(125).fill(0x41)]);
  const placements: readonly (readonly [
    name: string,
    before: Uint8Array,
    after?: Uint8Array | undefined,
    refusal?: RegExp,
  ])[] = [
    ["an APE tag of 6 KB at the start", apeTag(6_000), undefined, /MP3.*tags/],
    ["an APE tag at the end", new Uint8Array(0), apeTag(600)],
    ["an APE tag and ID3v1 at the end", new Uint8Array(0), concatBytes([apeTag(600), id3v1])],
    ["ID3v2.3 and 8 KB of zeros", concatBytes([id3Tag(300), new Uint8Array(8_192)]), undefined, /MP3.*zeros/],
    ["ID3v2.3 of a plain size", id3Tag(3_300, 3, true), undefined, /MP3/],
    ["ID3v2.4 of 200 KB", id3Tag(200_000, 4)],
    ["two ID3v2 tags", concatBytes([id3Tag(300), id3Tag(500, 4)])],
    ["ID3v2 and an APE tag", concatBytes([id3Tag(300), apeTag(900)])],
    ["zeros before and after", new Uint8Array(777), new Uint8Array(777), /MP3/],
  ];
  const parts = RATES.map((rate, i) => mp3(rate, 1 + (i % 2), ["-id3v2_version", i % 3 === 0 ? "3" : "0"], i));
  return [
    ...kinds,
    ...options.map((choice) => ({ name: choice.join(" "), bytes: mp3(44_100, 2, choice) })),
    ...placements.map(([name, before, after = new Uint8Array(0), refusal]) => ({
      name,
      bytes: concatBytes([before, plainMp3, after]),
      equivalentFiles,
      ...(refusal && { refusal }),
    })),
    { name: "in a RIFF chunk", bytes: inRiff(plainMp3), equivalentFiles, refusal: /MP3/ },
    ...parts.map((first, i) => {
      const second = parts[(i + 4) % parts.length]!;
      return {
        name: `joined: ${RATES[i]} Hz and ${RATES[(i + 4) % parts.length]} Hz`,
        bytes: concatBytes([first, second]),
        equivalentFiles: [first, second],
      };
    }),
  ];
}

/** An MP3 in a WAV file: format tag 0x55 with its twelve more bytes. */
function inRiff(mp3: Uint8Array): Uint8Array {
  const format = new DataView(new ArrayBuffer(30));
  format.setUint16(0, 0x55, true);
  format.setUint16(2, 2, true);
  format.setUint32(4, 44_100, true);
  format.setUint32(8, 8_000, true);
  format.setUint16(12, 1, true);
  format.setUint16(16, 12, true);
  const body = concatBytes([letters("WAVE"), chunk("fmt ", new Uint8Array(format.buffer)), chunk("data", mp3)]);
  return chunk("RIFF", body);
}
