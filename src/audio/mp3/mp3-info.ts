import { lettersAt } from "../sniffing/file-tags.ts";
import type { MpegHeader } from "./mpeg-header.ts";

/** Properties of an MP3, stated in a silent first frame. */
export interface Mp3Info {
  /** Number of frames after this one; undefined if not stated. */
  readonly frames: number | undefined;
  /** Samples that the encoder added before the audio, and after it; undefined if not stated. */
  readonly padding: readonly [before: number, after: number] | undefined;
}

/** Bits of a Xing or Info tag: which fields it has. */
const HAS_FRAMES = 1;
const HAS_BYTES = 2;
const HAS_TABLE = 4;
const HAS_QUALITY = 8;
const TABLE_BYTES = 100;
/** Position of delay and padding in LAME's extension, 12 bits each. */
const LAME_PADDING_AT = 21;
/** Position of Fraunhofer's tag, and of the number of frames in it. */
const VBRI_AT = 36;
const VBRI_FRAMES_AT = VBRI_AT + 14;
const CRC_BYTES = 2;

/** The Xing, Info or VBRI tag in a whole frame; undefined if the frame contains sound. */
export function mp3Info(frame: Uint8Array, { samples, channels }: MpegHeader): Mp3Info | undefined {
  const sideBytes = samples === 1152 ? (channels === 1 ? 17 : 32) : channels === 1 ? 9 : 17;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  for (const at of [4 + sideBytes, 4 + CRC_BYTES + sideBytes])
    if (lettersAt(frame, at, "Xing") || lettersAt(frame, at, "Info")) return xing(view, at + 4);
  if (!lettersAt(frame, VBRI_AT, "VBRI")) return undefined;
  const frames = frame.length < VBRI_FRAMES_AT + 4 ? undefined : view.getUint32(VBRI_FRAMES_AT);
  return { frames, padding: undefined };
}

function xing(view: DataView, at: number): Mp3Info {
  const flags = at + 4 > view.byteLength ? 0 : view.getUint32(at);
  const frames = flags & HAS_FRAMES && at + 8 <= view.byteLength ? view.getUint32(at + 4) : undefined;
  let lame = at + 4;
  if (flags & HAS_FRAMES) lame += 4;
  if (flags & HAS_BYTES) lame += 4;
  if (flags & HAS_TABLE) lame += TABLE_BYTES;
  if (flags & HAS_QUALITY) lame += 4;
  const from = lame + LAME_PADDING_AT;
  if (from + 3 > view.byteLength || view.getUint8(lame) === 0) return { frames, padding: undefined };
  const delayAndPadding = view.getUint8(from) * 65_536 + view.getUint16(from + 1);
  return { frames, padding: [delayAndPadding >> 12, delayAndPadding & 0xfff] };
}
