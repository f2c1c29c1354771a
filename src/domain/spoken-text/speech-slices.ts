/** Lengths of slices of a text, in UTF-16 code units. */
export interface SliceLengths {
  /** Maximum length of a slice. */
  readonly maxLength: number;
  /** Minimum length of a slice: a shorter sentence shares its slice with the next sentence. */
  readonly minLength: number;
  /** Minimum length of the first slice, so that its sound is ready soon. Default: `minLength`. */
  readonly firstMinLength?: number | undefined;
}

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });
/** Places at which a long sentence is cut: after its last comma, or its last space. */
const BREAK_PATTERNS = [/[,;:،、，；：–—]\s?(?=[^,;:،、，；：–—]*$)/u, /\s(?=\S*$)/u];

/**
 * Splits a text into slices that are spoken in order: whole sentences if possible, otherwise at a comma, otherwise
 * between words. A word is cut only if it is longer than half a slice. Concatenated, the slices are the text.
 */
export function* speechSlices(
  text: string,
  { maxLength, minLength, firstMinLength = minLength }: SliceLengths,
): Generator<string> {
  let currentMinLength = firstMinLength;
  let slice = "";
  for (const { segment } of SENTENCES.segment(text)) {
    if (slice !== "" && slice.length + segment.length > maxLength) {
      yield slice;
      slice = "";
      currentMinLength = minLength;
    }
    slice += segment;
    while (slice.length > maxLength) {
      const at = breakBefore(slice, maxLength);
      yield slice.slice(0, at);
      slice = slice.slice(at);
      currentMinLength = minLength;
    }
    if (slice.trim().length < currentMinLength) continue;
    yield slice;
    slice = "";
    currentMinLength = minLength;
  }
  if (slice !== "") yield slice;
}

/** Position at which to cut a long sentence: at a break in the second half, otherwise at `limit`. */
function breakBefore(text: string, limit: number): number {
  const head = text.slice(0, limit);
  for (const pattern of BREAK_PATTERNS) {
    const match = pattern.exec(head);
    if (match && match.index >= limit / 2) return match.index + match[0].length;
  }
  const last = head.charCodeAt(limit - 1);
  return last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
}
