import type { MediaListener, StreamSettings } from "../../../adapters/sip-stack/media/engine.ts";
import { RtpSession } from "../../../adapters/sip-stack/media/rtp-session.ts";
import type { MediaClock } from "../../../src/audio/playout/media-clock.ts";
import { settingsTo } from "./two-ends.ts";

/** The negotiated address of the peer. */
export const PEER = { address: "192.0.2.1", port: 4_000 } as const;

/** Plain PCMU to {@link PEER}. */
export function peerSettings(options: Partial<StreamSettings> = {}): StreamSettings {
  return settingsTo(PEER.port, { remote: PEER, remoteRtcp: PEER, ...options });
}

/** The session of a call on a manual clock and without sockets: the test calls `datagram` and `tick`. @param sampleRate Hz */
export function sessionAt(
  monotonic: () => number,
  sampleRate = 8_000,
  listener: Partial<MediaListener> = {},
): RtpSession {
  return new RtpSession({
    ...{ address: PEER.address, ports: [20_000, 20_001], sampleRate, lossMs: 20_000 },
    system: { now: monotonic, monotonic, random: (bytes) => void bytes.fill(1), after: () => () => {} },
    clock: { add() {}, remove() {} } as unknown as MediaClock,
    deadlines: { send: Number.POSITIVE_INFINITY },
    sockets: { port: 20_000, send() {}, sendRtcp() {}, openRtcp() {}, async close() {} },
    listener: { sending() {}, receiving() {}, digit() {}, silent() {}, lost() {}, ...listener },
    onClosed() {},
  });
}
