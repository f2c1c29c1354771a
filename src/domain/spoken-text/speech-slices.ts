/** Lengths of slices of a text, in UTF-16 code units. */
export interface SliceLengths {
  /** No slice is longer. */
  readonly longest: number;
  /** A shorter sentence shares its slice with the one after it. */
  readonly shortest: number;
  /** The same for the first slice, so that its sound is ready soon. Default: `shortest`. */
  readonly first?: number | undefined;
}

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });
/** Places at which a long sentence is cut: after its last comma, or its last space. */
const BREAKS = [/[,;:،、，；：–—]\s?(?=[^,;:،、，；：–—]*$)/u, /\s(?=\S*$)/u];

/**
 * Splits a text into slices that are spoken in order: whole sentences if possible, otherwise at a comma,
 * otherwise between words. A word is cut only if it is longer than half a slice. Together they are the text.
 */
export function* speechSlices(text: string, { longest, shortest, first = shortest }: SliceLengths): Generator<string> {
  let enough = first;
  let open = "";
  for (const { segment } of SENTENCES.segment(text)) {
    if (open !== "" && open.length + segment.length > longest) {
      yield open;
      open = "";
      enough = shortest;
    }
    open += segment;
    while (open.length > longest) {
      const at = breakBefore(open, longest);
      yield open.slice(0, at);
      open = open.slice(at);
      enough = shortest;
    }
    if (open.trim().length < enough) continue;
    yield open;
    open = "";
    enough = shortest;
  }
  if (open !== "") yield open;
}

/** Position at which to cut a long sentence: at a break in the second half, otherwise at `limit`. */
function breakBefore(text: string, limit: number): number {
  const head = text.slice(0, limit);
  for (const pattern of BREAKS) {
    const match = pattern.exec(head);
    if (match && match.index >= limit / 2) return match.index + match[0].length;
  }
  const last = head.charCodeAt(limit - 1);
  return last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
}
