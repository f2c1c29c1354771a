/** The four bytes at the head of an MPEG layer III frame. */
export interface MpegHeader {
  /** Size of the whole frame, header included, bytes. */
  readonly frameBytes: number;
  readonly sampleRate: number;
  /** Samples of each channel. */
  readonly samples: 576 | 1152;
  readonly channels: 1 | 2;
}

/** Length of the longest possible frame, bytes: 320 kbit/s at 32 kHz, padded. */
export const MAX_FRAME_BYTES = 1441;

const SAMPLE_RATES = [44_100, 48_000, 32_000];
const KBITS_MPEG1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KBITS_MPEG2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** ISO/IEC 11172-3: the mode bits of one channel. */
const MONO = 3;

/**
 * Reads a layer III frame header (ISO/IEC 11172-3 and 13818-3, and the customary MPEG 2.5), or returns undefined if
 * there is none. Free-format frames do not state their length and are not recognised; see {@link isFreeFormat}.
 */
export function mpegHeader(bytes: Uint8Array, at: number): MpegHeader | undefined {
  const version = versionAt(bytes, at);
  if (version === undefined) return undefined;
  const third = bytes[at + 2]!;
  const isMpeg1 = version === 3;
  const kbits = (isMpeg1 ? KBITS_MPEG1 : KBITS_MPEG2)[third >> 4];
  const baseRate = SAMPLE_RATES[(third >> 2) & 3];
  if (!kbits || baseRate === undefined) return undefined;
  const sampleRate = isMpeg1 ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
  const padding = (third >> 1) & 1;
  const frameBytes = Math.floor(((isMpeg1 ? 144_000 : 72_000) * kbits) / sampleRate) + padding;
  const channels = bytes[at + 3]! >> 6 === MONO ? 1 : 2;
  return { frameBytes, sampleRate, samples: isMpeg1 ? 1152 : 576, channels };
}

/** True if a free-format layer III frame starts here: its length is the distance to the next frame. */
export function isFreeFormat(bytes: Uint8Array, at: number): boolean {
  const third = bytes[at + 2] ?? 0;
  return versionAt(bytes, at) !== undefined && third >> 4 === 0 && SAMPLE_RATES[(third >> 2) & 3] !== undefined;
}

/** The version bits of a layer III header; undefined if there is no header here. */
function versionAt(bytes: Uint8Array, at: number): number | undefined {
  if (bytes[at] !== 0xff || at + 4 > bytes.length) return undefined;
  const second = bytes[at + 1]!;
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const emphasis = bytes[at + 3]! & 3;
  return second < 0xe0 || version === 1 || layer !== 1 || emphasis === 2 ? undefined : version;
}
