import { AudioFormatError } from "./audio-format-error.ts";
import { ALAW_LEVELS, MULAW_LEVELS } from "./g711.ts";

/** How the samples of a WAV file are written. */
export interface WavFormat {
  readonly encoding: "pcm" | "float" | "alaw" | "mulaw";
  readonly bitsPerSample: number;
  /** 1 to 8. */
  readonly channels: number;
  /** Samples per second, 4000 to 192000. */
  readonly sampleRate: number;
}

/** Reads one sample of one channel, scaled to the 16-bit range but not yet rounded. */
export type WavSampleReader = (bytes: DataView, offset: number) => number;

const EXTENSIBLE = 0xfffe;

const ENCODINGS: Readonly<Record<number, WavFormat["encoding"]>> = { 1: "pcm", 3: "float", 6: "alaw", 7: "mulaw" };

/** Names for the format tags (RFC 2361, appendix A) that turn up and that we refuse. */
const REFUSED: Readonly<Record<number, string>> = {
  2: "Microsoft ADPCM",
  16: "OKI ADPCM",
  17: "IMA ADPCM",
  32: "Yamaha ADPCM",
  34: "TrueSpeech",
  49: "GSM 6.10",
  64: "G.721 ADPCM",
  66: "G.723.1",
  69: "G.726 ADPCM",
  80: "MPEG layer II",
  85: "MP3 inside a WAV file",
  100: "G.726 ADPCM",
  101: "G.722",
  255: "AAC",
  352: "Windows Media Audio",
  353: "Windows Media Audio",
  8192: "AC-3",
  61868: "FLAC inside a WAV file",
};

const READERS: ReadonlyMap<string, WavSampleReader> = new Map(
  Object.entries<WavSampleReader>({
    // Eight-bit WAV is the odd one out: unsigned, with silence at 128.
    pcm8: (bytes, offset) => (bytes.getUint8(offset) - 128) * 256,
    pcm16: (bytes, offset) => bytes.getInt16(offset, true),
    pcm24: (bytes, offset) => bytes.getInt16(offset + 1, true) + bytes.getUint8(offset) / 256,
    pcm32: (bytes, offset) => bytes.getInt32(offset, true) / 65536,
    float32: (bytes, offset) => bytes.getFloat32(offset, true) * 32768,
    float64: (bytes, offset) => bytes.getFloat64(offset, true) * 32768,
    alaw8: (bytes, offset) => ALAW_LEVELS[bytes.getUint8(offset)] ?? 0,
    mulaw8: (bytes, offset) => MULAW_LEVELS[bytes.getUint8(offset)] ?? 0,
  }),
);

/** The reader for a format that {@link parseWavFormat} has accepted. */
export function wavSampleReader(format: WavFormat): WavSampleReader {
  const reader = READERS.get(format.encoding + format.bitsPerSample);
  if (reader === undefined) throw unsupported(`${format.bitsPerSample}-bit ${format.encoding} samples`);
  return reader;
}

/**
 * Reads a `fmt ` chunk of at least 16 bytes (Microsoft's WAVEFORMATEX and WAVEFORMATEXTENSIBLE).
 *
 * Throws {@link AudioFormatError} for an encoding, a channel count or a rate that we do not decode.
 */
export function parseWavFormat(chunk: DataView): WavFormat {
  let tag = chunk.getUint16(0, true);
  if (tag === EXTENSIBLE) {
    if (chunk.byteLength < 26) {
      throw malformed(`an extensible fmt chunk of ${chunk.byteLength} bytes, too short for its sub-format`);
    }
    tag = chunk.getUint16(24, true);
  }
  const encoding = ENCODINGS[tag];
  if (encoding === undefined) {
    throw unsupported(REFUSED[tag] ?? `format tag 0x${tag.toString(16).padStart(4, "0")}`);
  }

  const channels = chunk.getUint16(2, true);
  if (channels < 1 || channels > 8) throw unsupported(`${channels} channels (1 to 8 can be played)`);
  const sampleRate = chunk.getUint32(4, true);
  if (sampleRate < 4000 || sampleRate > 192_000) {
    throw unsupported(`a sample rate of ${sampleRate} Hz (4000 to 192000 can be played)`);
  }

  const bitsPerSample = chunk.getUint16(14, true);
  const format: WavFormat = { encoding, bitsPerSample, channels, sampleRate };
  wavSampleReader(format);
  const blockAlign = chunk.getUint16(12, true);
  const frameBytes = (channels * bitsPerSample) / 8;
  // Some writers leave the field empty. A wrong one means samples in larger containers, which would play as noise.
  if (blockAlign !== 0 && blockAlign !== frameBytes) {
    throw malformed(`a block size of ${blockAlign} bytes, but its samples need ${frameBytes}`);
  }
  return format;
}

function unsupported(what: string): AudioFormatError {
  return new AudioFormatError("unsupported", `the WAV file uses ${what}, which is not supported`);
}

function malformed(what: string): AudioFormatError {
  return new AudioFormatError("malformed", `the WAV file has ${what}`);
}
