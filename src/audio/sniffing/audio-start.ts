import { framesAt, ID3_HEAD_BYTES, id3PlainBytes } from "../mp3/mp3-frames.ts";
import { tagAt } from "./file-tags.ts";

/**
 * Position at which the audio of a file may start, after its tags. The declared size of an ID3 tag may be wrong: it may
 * be a plain number, and if it exceeds the file, only the head is skipped, so that frames are found inside.
 */
export function audioStart(bytes: Uint8Array): number {
  let start = 0;
  for (;;) {
    const at = afterZeros(bytes, start);
    const tag = tagAt(bytes, at);
    if (tag === 0) return start;
    const end = at + tag;
    if (framesAt(bytes, afterZeros(bytes, end)) === "yes") return end;
    const plainEnd = afterZeros(bytes, at + id3PlainBytes(bytes, at));
    if (framesAt(bytes, plainEnd) === "yes") return plainEnd;
    if (end > bytes.length) return framesWithin(bytes, at + ID3_HEAD_BYTES) ?? bytes.length;
    start = end;
  }
}

/** Position of the first byte that is not zero. */
export function afterZeros(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] === 0) at++;
  return at;
}

function framesWithin(bytes: Uint8Array, from: number): number | undefined {
  for (let at = from; at < bytes.length; at++) if (bytes[at] === 0xff && framesAt(bytes, at) === "yes") return at;
  return undefined;
}
