/** A part of a body: the index of its first byte, and of the byte after its last. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The part of a body that a Range header requests (RFC 9110 §14.1.2).
 * @returns undefined if the whole body is to be sent: there is no header, or it has several parts or another unit;
 *   "unsatisfiable" for a part that begins after the end of the body
 */
export function byteRange(header: string | null, size: number): ByteRange | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = /^\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { from: size - length, to: size };
  }
  const from = Number(first);
  if (last !== "" && Number(last) < from) return undefined;
  if (from >= size) return "unsatisfiable";
  return { from, to: last === "" ? size : Math.min(size, Number(last) + 1) };
}
