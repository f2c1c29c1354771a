import { FRAME_MS } from "../ports.ts";
import type { MediaStatistics, StreamSettings } from "./engine.ts";
import type { Inbound } from "./inbound.ts";
import { estimateMos } from "./mos.ts";
import type { Outbound } from "./outbound.ts";
import type { RtcpSession } from "./rtcp-session.ts";

/** The parts of a session that count. */
export interface CountedStreams {
  readonly codec: StreamSettings["codec"];
  readonly inbound: Inbound;
  readonly outbound: Outbound;
  readonly rtcp: RtcpSession;
  /** Packets that were refused by their address or their encryption. */
  readonly refused: number;
  readonly heldMs: number;
}

/** The statistics of a session so far; its MOS is an estimate by ITU-T G.107. */
export function mediaStatistics({ codec, inbound, outbound, rtcp, refused, heldMs }: CountedStreams): MediaStatistics {
  const { received, lost } = inbound;
  const { roundTripMs, remoteLoss } = rtcp;
  const { burstRatio, jitterMs } = inbound.reception;
  const delayMs = (roundTripMs ?? 0) / 2 + inbound.delayMs + FRAME_MS;
  const loss = lost / Math.max(1, received + lost);
  return {
    codec,
    packetsSent: outbound.sent,
    packetsReceived: received,
    packetsLost: lost,
    packetsReordered: inbound.reordered,
    packetsDuplicated: inbound.duplicated,
    packetsInvalid: inbound.invalid + refused,
    packetsInjected: inbound.source.injected,
    jitterMs,
    roundTripMs,
    remoteLoss,
    mos: inbound.heard ? estimateMos({ codec, loss, burstRatio, delayMs }) : null,
    heldMs,
  };
}
