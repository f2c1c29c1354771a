const UNKNOWN_LENGTH = 0xffff_ffff;

/** Length of the header from {@link wavHeader}, bytes. */
export const WAV_HEADER_BYTES = 44;

/**
 * The header (44 bytes) of a 16-bit WAV file, by default of one channel. Without `samples` (a count) the length is
 * marked as unknown, for streams. Throws a RangeError for more samples than the format can state.
 */
export function wavHeader({ sampleRate, samples, channels = 1 }: WavHeaderOptions): Uint8Array<ArrayBuffer> {
  const blockBytes = 2 * channels;
  const dataBytes = samples === undefined ? UNKNOWN_LENGTH : blockBytes * samples;
  const riffBytes = samples === undefined ? UNKNOWN_LENGTH : dataBytes + 36;
  if (riffBytes > UNKNOWN_LENGTH) throw new RangeError(`a WAV file cannot contain ${samples} samples`);
  const header = new Uint8Array(WAV_HEADER_BYTES);
  const view = new DataView(header.buffer);
  const letters = (at: number, text: string) => {
    for (let i = 0; i < text.length; i++) header[at + i] = text.charCodeAt(i);
  };
  letters(0, "RIFF");
  view.setUint32(4, riffBytes, true);
  letters(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, blockBytes * sampleRate, true);
  view.setUint16(32, blockBytes, true);
  view.setUint16(34, 16, true);
  letters(36, "data");
  view.setUint32(40, dataBytes, true);
  return header;
}

/** Options of {@link wavHeader}. */
export interface WavHeaderOptions {
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  /** Number of samples of each channel; omit it for a stream of unknown length. */
  readonly samples?: number | undefined;
  /** Default: 1. */
  readonly channels?: number | undefined;
}
