/** Reasons why bytes of an audio file or a stream are not heard. */
export const IGNORED_REASONS = ["unknown_bytes", "incomplete", "broken_frames", "unreadable_part"] as const;
export type IgnoredReason = (typeof IGNORED_REASONS)[number];

/** Bytes of an audio file that are neither heard nor part of a header or a tag. */
export interface IgnoredBytes {
  readonly reason: IgnoredReason;
  readonly bytes: number;
}

/** The bytes of an audio file by their use. Their sum is the size of the file. */
export interface FileBytes {
  /** Number of bytes in headers, tags and padding. */
  readonly header: number;
  /** Number of bytes of decoded audio. */
  readonly played: number;
  /** The other bytes, by reason; empty if there are none. */
  readonly ignored: readonly IgnoredBytes[];
}

/** Share of a file's audio bytes that are played, 0 to 1: ignored bytes may have been audio. */
export function playedShare({ played, ignored }: FileBytes): number {
  const audioBytes = ignored.reduce((sum, { bytes }) => sum + bytes, played);
  return audioBytes === 0 ? 1 : played / audioBytes;
}
