import type { MediaStatistics } from "../../src/ports/telephony.ts";

/** Quantities that cannot be measured on a network that exposes frames instead of packets. */
export const UNMEASURED_STATISTICS = {
  packetsReordered: 0,
  packetsDuplicated: 0,
  packetsInvalid: 0,
  roundTripMs: null,
  remoteLoss: null,
  mos: null,
} as const satisfies Partial<MediaStatistics>;

/** The interarrival jitter after another deviation, in the same unit (RFC 3550 section 6.4.1). @param deviation not negative */
export function nextJitter(jitter: number, deviation: number): number {
  return jitter + (deviation - jitter) / 16;
}
