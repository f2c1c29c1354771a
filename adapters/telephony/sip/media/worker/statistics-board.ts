import type { MediaStatistics } from "../engine.ts";

const CODECS = ["PCMU", "PCMA", "opus"] as const;
/** In the order in which they stand on the board; the codec comes before them. */
const NUMBERS = [
  "packetsSent",
  "packetsReceived",
  "packetsLost",
  "packetsReordered",
  "packetsDuplicated",
  "packetsInvalid",
  "jitterMs",
  "roundTripMs",
  "remoteLoss",
  "mos",
  "heldMs",
] as const satisfies readonly (keyof MediaStatistics)[];

export const STATISTICS_BYTES: number = (1 + NUMBERS.length) * Float64Array.BYTES_PER_ELEMENT;

/** Writes how a call goes where the other thread can read it at any time. What there is none of is written as NaN. */
export function writeStatistics(board: Float64Array, statistics: MediaStatistics): void {
  board[0] = CODECS.indexOf(statistics.codec as (typeof CODECS)[number]);
  for (const [i, name] of NUMBERS.entries()) board[i + 1] = statistics[name] ?? Number.NaN;
}

/** What was written last; zeros before that. */
export function readStatistics(board: Float64Array): MediaStatistics {
  const number = (name: (typeof NUMBERS)[number]): number => board[NUMBERS.indexOf(name) + 1] ?? 0;
  const orNull = (name: (typeof NUMBERS)[number]): number | null => (Number.isNaN(number(name)) ? null : number(name));
  return {
    codec: CODECS[board[0] ?? 0] ?? "PCMU",
    packetsSent: number("packetsSent"),
    packetsReceived: number("packetsReceived"),
    packetsLost: number("packetsLost"),
    packetsReordered: number("packetsReordered"),
    packetsDuplicated: number("packetsDuplicated"),
    packetsInvalid: number("packetsInvalid"),
    jitterMs: number("jitterMs"),
    roundTripMs: orNull("roundTripMs"),
    remoteLoss: orNull("remoteLoss"),
    mos: orNull("mos"),
    heldMs: number("heldMs"),
  };
}
