import { CODEC_NAMES, type CodecName } from "../codecs/codec.ts";
import type { MediaStatistics, StreamEvidence } from "../engine.ts";

/** The kinds of evidence, in the order of their numbers on the board. */
const EVIDENCE_KINDS = ["none", "inbound", "rtcp"] as const satisfies readonly StreamEvidence["kind"][];
/** The numeric statistics, in the order of the board; the codec precedes them. */
const NUMBERS = [
  "packetsSent",
  "packetsReceived",
  "packetsLost",
  "packetsReordered",
  "packetsDuplicated",
  "packetsInvalid",
  "packetsInjected",
  "jitterMs",
  "roundTripMs",
  "remoteLoss",
  "mos",
  "heldMs",
] as const satisfies readonly (keyof MediaStatistics)[];

/** Index of the evidence: its kind, then whether any is expected, and whether audio came from another host. */
const EVIDENCE_AT = 1 + NUMBERS.length;

export const STATISTICS_BYTES: number = (EVIDENCE_AT + 3) * Float64Array.BYTES_PER_ELEMENT;

/** Writes statistics into shared memory, where the other thread can read them at any time. A missing value is NaN. */
export function writeStatistics(board: Float64Array, statistics: MediaStatistics): void {
  board[0] = CODEC_NAMES.indexOf(statistics.codec as CodecName);
  for (const [i, name] of NUMBERS.entries()) board[i + 1] = statistics[name] ?? Number.NaN;
}

/** Latest written statistics; zeros before that. */
export function readStatistics(board: Float64Array): MediaStatistics {
  const number = (name: (typeof NUMBERS)[number]): number => board[NUMBERS.indexOf(name) + 1] ?? 0;
  const numberOrNull = (name: (typeof NUMBERS)[number]): number | null =>
    Number.isNaN(number(name)) ? null : number(name);
  return {
    codec: CODEC_NAMES[board[0] ?? 0] ?? "PCMU",
    packetsSent: number("packetsSent"),
    packetsReceived: number("packetsReceived"),
    packetsLost: number("packetsLost"),
    packetsReordered: number("packetsReordered"),
    packetsDuplicated: number("packetsDuplicated"),
    packetsInvalid: number("packetsInvalid"),
    packetsInjected: number("packetsInjected"),
    jitterMs: number("jitterMs"),
    roundTripMs: numberOrNull("roundTripMs"),
    remoteLoss: numberOrNull("remoteLoss"),
    mos: numberOrNull("mos"),
    heldMs: number("heldMs"),
  };
}

/** Writes the evidence that the peer receives our audio. */
export function writeEvidence(board: Float64Array, { kind, expected, fromOtherHost }: StreamEvidence): void {
  board[EVIDENCE_AT] = EVIDENCE_KINDS.indexOf(kind);
  board[EVIDENCE_AT + 1] = expected ? 1 : 0;
  board[EVIDENCE_AT + 2] = fromOtherHost ? 1 : 0;
}

/** Latest written evidence; none before that. */
export function readEvidence(board: Float64Array): StreamEvidence {
  const kind = EVIDENCE_KINDS[board[EVIDENCE_AT] ?? 0] ?? "none";
  return { kind, expected: board[EVIDENCE_AT + 1] === 1, fromOtherHost: board[EVIDENCE_AT + 2] === 1 };
}
