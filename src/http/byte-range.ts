/** A part of a body: its first byte, and the one behind its last. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The one part of a body that a Range header asks for (RFC 9110 §14.1.2). Undefined where the whole body is to be sent:
 * without a header, and for several parts or another unit, which nobody needs to know.
 * @returns "unsatisfiable" for a part that begins behind the end of the body
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
