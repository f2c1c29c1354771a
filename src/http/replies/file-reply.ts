import type { Reply } from "../../ports/web.ts";
import { HttpRefusal } from "../problems/problem.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { notModified } from "./reply.ts";

/** A file that supports partial reads. */
export interface ReadableFile {
  /** Size, bytes. */
  readonly size: number;
  bytes(from?: number, to?: number): AsyncIterable<Uint8Array>;
}

/**
 * The reply with a file: the whole file, the requested part (RFC 9110 §14), or 304.
 * @param etag identifies the content of the file; undefined while the file grows, during which ranges are not supported
 * @throws {HttpRefusal} `range_not_satisfiable`
 */
export function fileReply(
  context: RequestContext,
  { size, bytes }: ReadableFile,
  etag: string | undefined,
  baseHeaders: Readonly<Record<string, string>> & { readonly "cache-control": string },
): Reply {
  if (etag === undefined)
    return {
      status: 200,
      headers: { ...baseHeaders, "accept-ranges": "none", "content-length": String(size) },
      body: bytes(),
    };
  const headers = { ...baseHeaders, "accept-ranges": "bytes", etag };
  const notModifiedReply = notModified(context, headers);
  if (notModifiedReply) return notModifiedReply;
  const condition = context.header("if-range");
  // A part can complete only the same file. Anything but the file's strong tag, such as a date, means another file.
  const range = condition === null || condition === etag ? byteRange(context.header("range"), size) : undefined;
  if (range === "unsatisfiable")
    throw new HttpRefusal("range_not_satisfiable", `the file has ${size} bytes`, {
      headers: { "content-range": `bytes */${size}` },
    });
  if (range === undefined)
    return { status: 200, headers: { ...headers, "content-length": String(size) }, body: bytes() };
  const { from, to } = range;
  const part = { "content-length": String(to - from), "content-range": `bytes ${from}-${to - 1}/${size}` };
  return { status: 206, headers: { ...headers, ...part }, body: bytes(from, to) };
}

/** A part of a body: the index of its first byte, and of the byte after its last. */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The part of a body that a Range header requests (RFC 9110 §14.1.2).
 * @returns undefined if the whole body is to be sent: there is no header, or it has several parts or another unit;
 *   "unsatisfiable" for a part that starts after the end of the body
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
