// zapo 1.8 dials every relay on port 3478, where WhatsApp sends no audio from the callee. This makes peer connections
// dial port 3480, which WhatsApp Web uses. A relay that does not respond there is soon dialled on 3478, so that at
// least its callee hears our message. Relays over plain UDP have no peer connection and are left unchanged.
//
// It was tested with the package and with scripted relays, not on the live network: see docs/whatsapp.md.

const WEB_PORT = 3480;
const FALLBACK_MS = 3_000;
/** The candidate that zapo adds for a relay; those of other peers are left unchanged. */
const CANDIDATE = /candidate:2 1 udp 2122262783 \S+ (3478) typ host generation 0 network-cost 5/d;

interface Description {
  readonly type: string;
  readonly sdp: string;
}

interface PeerConnection {
  readonly iceConnectionState: string;
  setRemoteDescription(description: Description, ...callbacks: unknown[]): Promise<void>;
  addIceCandidate(candidate: { candidate: string; sdpMid: string; sdpMLineIndex: number }): Promise<void>;
}

/** The part of the package `@roamhq/wrtc` that is used here. */
export interface Wrtc {
  readonly RTCPeerConnection: { readonly prototype: PeerConnection };
}

/** Changes the package for the whole process; returns a function that undoes this. */
export function dialWebPort(
  { RTCPeerConnection: { prototype } }: Wrtc,
  after: (ms: number, run: () => void) => unknown = (ms, run) => setTimeout(run, ms).unref?.(), // a number has none
): () => void {
  const original = prototype.setRemoteDescription;
  let isActive = true;
  async function setRemoteDescription(
    this: PeerConnection,
    description: Description,
    ...callbacks: unknown[]
  ): Promise<void> {
    const match = isActive ? CANDIDATE.exec(description.sdp) : null;
    const [from, to] = match?.indices?.[1] ?? [];
    if (!match || from === undefined || to === undefined) return original.call(this, description, ...callbacks);
    const sdp = `${description.sdp.slice(0, from)}${WEB_PORT}${description.sdp.slice(to)}`;
    await original.call(this, { ...description, sdp }, ...callbacks);
    after(FALLBACK_MS, () => {
      if (!["new", "checking"].includes(this.iceConnectionState)) return;
      const fallback = { candidate: match[0], sdpMid: "0", sdpMLineIndex: 0 };
      this.addIceCandidate(fallback).catch(() => {}); // closed in the meantime
    });
  }
  prototype.setRemoteDescription = setRemoteDescription;
  return () => {
    isActive = false;
    if (prototype.setRemoteDescription === setRemoteDescription) prototype.setRemoteDescription = original;
  };
}
