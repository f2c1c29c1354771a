import { AudioFormatError } from "../audio-format-error.ts";

/** Format of a WAV file's samples. */
export interface WavFormat {
  readonly encoding: "pcm" | "float" | "alaw" | "mulaw";
  /** Number of significant bits; the container may be larger. */
  readonly bitsPerSample: number;
  /** Size of a sample in one channel, bytes. */
  readonly containerBytes: number;
  /** Number of channels, 1 to 8. */
  readonly channels: number;
  /** Speakers of the channels (WAVEFORMATEXTENSIBLE); 0 if the file states none. */
  readonly channelMask: number;
  /** Sample rate, Hz, 4000 to 192000. */
  readonly sampleRate: number;
}

const EXTENSIBLE = 0xfffe;

const ENCODINGS: Readonly<Record<number, WavFormat["encoding"]>> = { 1: "pcm", 3: "float", 6: "alaw", 7: "mulaw" };

/** Names for the format tags (RFC 2361, appendix A) that occur and that we refuse. */
const UNSUPPORTED_TAGS: Readonly<Record<number, string>> = {
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

/** Sizes of samples that need no larger container, bits. */
const USUAL_BITS: readonly number[] = [8, 16, 32, 64];
/** Maximum size of an integer container, bytes. */
const MAX_CONTAINER = 4;

/** Sizes of samples that can be read, bytes. */
const CONTAINERS: { readonly [Encoding in WavFormat["encoding"]]: readonly number[] } = {
  pcm: [1, 2, 3, 4],
  float: [4, 8],
  alaw: [1],
  mulaw: [1],
};

/**
 * Reads a `fmt ` chunk of at least 16 bytes (Microsoft's WAVEFORMATEX and WAVEFORMATEXTENSIBLE).
 *
 * Throws {@link AudioFormatError} for an encoding, a channel count or a rate that we do not decode.
 */
export function parseWavFormat(chunk: DataView): WavFormat {
  let tag = chunk.getUint16(0, true);
  const isExtensible = tag === EXTENSIBLE;
  if (isExtensible) {
    if (chunk.byteLength < 26) {
      throw malformed(`an extensible fmt chunk of ${chunk.byteLength} bytes, too short for its sub-format`);
    }
    tag = chunk.getUint16(24, true);
  }
  const encoding = ENCODINGS[tag];
  if (encoding === undefined) {
    throw unsupported(UNSUPPORTED_TAGS[tag] ?? `format tag 0x${tag.toString(16).padStart(4, "0")}`);
  }

  const channels = chunk.getUint16(2, true);
  if (channels < 1 || channels > 8) throw unsupported(`${channels} channels (1 to 8 can be played)`);
  const sampleRate = chunk.getUint32(4, true);
  if (sampleRate < 4000 || sampleRate > 192_000) {
    throw unsupported(`a sample rate of ${sampleRate} Hz (4000 to 192000 can be played)`);
  }

  const statedBits = encoding === "alaw" || encoding === "mulaw" ? 8 : chunk.getUint16(14, true);
  if (statedBits > 0 && statedBits < 8) throw unsupported(`${statedBits}-bit ${encoding} samples`);
  const containerBytes = containerOf(chunk, channels, sampleRate, statedBits);
  if (!CONTAINERS[encoding].includes(containerBytes)) throw unsupported(`${statedBits}-bit ${encoding} samples`);
  const validBits = isExtensible && encoding === "pcm" ? chunk.getUint16(18, true) : 0;
  const bits = statedBits === 0 ? 8 * containerBytes : Math.min(statedBits, 8 * containerBytes);
  return {
    encoding,
    bitsPerSample: validBits > 0 && validBits < bits ? validBits : bits,
    containerBytes,
    channels,
    channelMask: isExtensible ? chunk.getUint32(20, true) : 0,
    sampleRate,
  };
}

/**
 * Bytes of one sample. The block size and the byte rate may be wrong or missing, so samples of 8, 16 and 32 bits are
 * always packed; only others, such as 24 bits, are also written into larger containers.
 */
function containerOf(chunk: DataView, channels: number, sampleRate: number, bits: number): number {
  const packedBytes = Math.ceil(bits / 8);
  const statedBytes = chunk.getUint16(12, true) / channels;
  const isPacked = chunk.getUint32(8, true) === sampleRate * channels * packedBytes;
  if (bits === 0) return statedBytes;
  const isLarger = Number.isInteger(statedBytes) && statedBytes > packedBytes && statedBytes <= MAX_CONTAINER;
  return isLarger && !isPacked && !USUAL_BITS.includes(bits) ? statedBytes : packedBytes;
}

function unsupported(property: string): AudioFormatError {
  return new AudioFormatError("unsupported", `the WAV file uses ${property}, which is not supported`);
}

function malformed(property: string): AudioFormatError {
  return new AudioFormatError("malformed", `the WAV file has ${property}`);
}
