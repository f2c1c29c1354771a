import { FRAME_MS } from "../ports.ts";
import type { MediaStatistics, StreamSettings } from "./engine.ts";
import type { Inbound } from "./inbound.ts";
import type { Outbound } from "./outbound.ts";
import type { RtcpSession } from "./rtcp-session.ts";

/** Measurements that an estimate is based on. */
interface MosInput {
  readonly codec: "PCMU" | "PCMA" | "G722" | "opus";
  /** Share of the packets that were not played, 0 to 1. */
  readonly loss: number;
  /** Length of bursts of loss compared to random loss (BurstR of ITU-T G.107). Default: 1, random loss. */
  readonly burstRatio?: number | undefined;
  /** Mouth-to-ear delay, ms. */
  readonly delayMs: number;
}

/** R of a perfect narrow-band connection (ITU-T G.107 with its default values). */
const MAX_R = 93.2;
/**
 * Robustness of a codec against loss: the value in ITU-T G.113 for G.711 with concealment also fits G.722; Opus with
 * forward error correction tolerates a little more.
 */
const LOSS_ROBUSTNESS = { PCMU: 25.1, PCMA: 25.1, G722: 25.1, opus: 30 };

/** Mean opinion score according to the E-model (ITU-T G.107), 1 to 4.5, from loss, loss bursts and delay only. */
function estimateMos({ codec, loss, burstRatio = 1, delayMs }: MosInput): number {
  const percent = 100 * Math.min(1, Math.max(0, loss));
  const delay = Math.max(0, delayMs);
  const delayImpairment = 0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0);
  const lossImpairment = (95 * percent) / (percent / Math.max(1, burstRatio) + LOSS_ROBUSTNESS[codec]);
  const r = Math.min(100, Math.max(0, MAX_R - delayImpairment - lossImpairment));
  const mos = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
  return Math.min(4.5, Math.max(1, mos));
}

/** The streams and counters of a session. */
interface CountedStreams {
  readonly codec: StreamSettings["codec"];
  readonly inbound: Inbound;
  readonly outbound: Outbound;
  readonly rtcp: RtcpSession;
  /** Number of packets that have been refused because of their address or encryption. */
  readonly refusedPackets: number;
  readonly heldMs: number;
}

/** The statistics of a session so far, with a MOS estimated according to ITU-T G.107. */
export function mediaStatistics({
  codec,
  inbound,
  outbound,
  rtcp,
  refusedPackets,
  heldMs,
}: CountedStreams): MediaStatistics {
  const { received, lost } = inbound;
  const { roundTripMs, remoteLoss } = rtcp;
  const { burstRatio, jitterMs } = inbound.reception;
  const delayMs = (roundTripMs ?? 0) / 2 + inbound.delayMs + FRAME_MS;
  const loss = lost / Math.max(1, received + lost);
  return {
    codec,
    packetsSent: outbound.sentPackets,
    packetsReceived: received,
    packetsLost: lost,
    packetsReordered: inbound.reordered,
    packetsDuplicated: inbound.duplicated,
    packetsInvalid: inbound.invalid + refusedPackets,
    packetsInjected: inbound.source.injected,
    jitterMs,
    roundTripMs,
    remoteLoss,
    mos: inbound.hasAudio ? estimateMos({ codec, loss, burstRatio, delayMs }) : null,
    heldMs,
  };
}
