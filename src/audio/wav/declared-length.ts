/**
 * Declared lengths of at least this are placeholders, bytes: 256 MiB is 25 times the largest upload, and hours of
 * speech. Writers to a pipe leave such numbers: all ones, 0x7FFFFFFF, 0x7FFFF024, 2,000,000,000.
 */
const MIN_PLACEHOLDER = 2 ** 28;
/** Maximum error of writers that count their own header, bytes. */
const MAX_MISCOUNT = 64;
/** Minimum number of bytes after a declared length to treat them as audio. */
const MIN_CONTINUATION = 64;

/**
 * The length that a file or a server declares, bytes; undefined if it is unknown, because the number is a placeholder.
 * Even a plausible length may be wrong: only the bytes that arrive are certain.
 */
export function declaredLength(claim: number): number | undefined {
  return claim === 0 || claim >= MIN_PLACEHOLDER ? undefined : claim;
}

/** Lengths of a file that has ended, bytes. */
export interface EndedLengths {
  /** Declared length of the audio. */
  readonly claim: number;
  /** Number of received bytes of the audio. */
  readonly received: number;
  /** Declared end of the container, counted from its first byte. */
  readonly containerEnd: number;
  /** Number of received bytes of the container. */
  readonly containerReceived: number;
}

/**
 * True if a file is truncated. False if its length is unknown, or if its container is complete and only the audio
 * declares a few more bytes.
 */
export function isCutOff({ claim, received, containerEnd, containerReceived }: EndedLengths): boolean {
  const length = declaredLength(claim);
  if (length === undefined || length <= received) return false;
  const isComplete = declaredLength(containerEnd) !== undefined && containerEnd <= containerReceived;
  return !isComplete || length - received > MAX_MISCOUNT;
}

/**
 * Number of bytes of audio after a declared length that is too short: the rest of the container, unless only a few
 * remain.
 * @param remaining bytes of the container after the claimed end; Infinity if its length is unknown
 */
export function continuationBytes(remaining: number): number {
  return remaining < MIN_CONTINUATION ? 0 : remaining;
}
