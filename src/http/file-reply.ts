import type { Reply } from "../ports/web.ts";
import { byteRange } from "./byte-range.ts";
import { HttpRefusal } from "./problem.ts";
import { notModified } from "./reply.ts";
import type { RequestContext } from "./request-context.ts";

/** A file that can be read in part. */
export interface ReadableFile {
  /** Bytes. */
  readonly size: number;
  bytes(from?: number, to?: number): AsyncIterable<Uint8Array>;
}

/**
 * Answers a file: the whole, the one part that is asked for (RFC 9110 §14), or 304.
 * @param etag stands for the file as it is; undefined while it grows, when it has no parts
 * @throws {HttpRefusal} `range_not_satisfiable`
 */
export function fileReply(
  context: RequestContext,
  { size, bytes }: ReadableFile,
  etag: string | undefined,
  fixed: Readonly<Record<string, string>> & { readonly "cache-control": string },
): Reply {
  if (etag === undefined)
    return {
      status: 200,
      headers: { ...fixed, "accept-ranges": "none", "content-length": String(size) },
      body: bytes(),
    };
  const headers = { ...fixed, "accept-ranges": "bytes", etag };
  const unchanged = notModified(context, headers);
  if (unchanged) return unchanged;
  const condition = context.header("if-range");
  // Only the same file can be completed by a part of it; what is no strong tag, such as a date, counts as another one.
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
