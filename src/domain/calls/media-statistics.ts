/** Statistics of one call's audio on the network (RFC 3550 section 6.4). */
export interface MediaStatistics {
  /** `PCMU`, `PCMA`, `G722`, `opus`, `MLow` (WhatsApp); `L16` for uncompressed audio. */
  readonly codec: string;
  readonly packetsSent: number;
  /** Number of packets that arrived; 0 on an answered call means that the audio was one-way. */
  readonly packetsReceived: number;
  /** Number of packets from the peer that never arrived, or arrived too late to be played. */
  readonly packetsLost: number;
  /** Number of packets that arrived out of order. */
  readonly packetsReordered: number;
  /** Number of packets that arrived twice. */
  readonly packetsDuplicated: number;
  /** Number of invalid packets: wrong keys, or not RTP. */
  readonly packetsInvalid: number;
  /** Number of RTP packets from unknown senders; missing if the network does not count them. */
  readonly packetsInjected?: number | undefined;
  /** Interarrival jitter (RFC 3550 section 6.4.1), ms. */
  readonly jitterMs: number;
  /** Round-trip time from RTCP, ms; null if the remote side sends none. */
  readonly roundTripMs: number | null;
  /** Share of our packets that the remote side reported as lost, 0 to 1; null without a report. */
  readonly remoteLoss: number | null;
  /** Estimated mean opinion score, 1 to 4.5 (ITU-T G.107); null before any packet. */
  readonly mos: number | null;
  /** Total time that the peer kept the call on hold, without audio from us, ms. */
  readonly heldMs: number;
}
