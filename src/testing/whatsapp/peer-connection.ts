import type { System } from "../../ports/system.ts";

/** The part of an `RTCSessionDescription` that a client sets. */
export interface FakeDescription {
  readonly type: string;
  readonly sdp: string;
}

/** A data channel of a {@link FakePeerConnection}. */
export interface FakeDataChannel {
  readyState: "connecting" | "open" | "closed";
  onopen: (() => void) | undefined;
}

/** The part of `RTCPeerConnection` that zapo's calls use. */
export interface FakePeerConnection {
  readonly iceConnectionState: "new" | "checking" | "connected" | "closed";
  /** Port of the relay that it is connected to. */
  readonly remotePort: number | undefined;
  createDataChannel(label: string, options?: object): FakeDataChannel;
  createOffer(): Promise<FakeDescription>;
  setLocalDescription(description: FakeDescription): Promise<void>;
  /** Looks for the relays of all `a=candidate` attributes. */
  setRemoteDescription(description: FakeDescription): Promise<void>;
  addIceCandidate(candidate: { readonly candidate: string }): Promise<void>;
  close(): void;
}

/** The part of the default export of `@roamhq/wrtc` that zapo uses. A client reads it for every relay that it dials. */
export interface FakeWrtc {
  RTCPeerConnection: new (configuration: object) => FakePeerConnection;
}

/** Options of {@link fakeWrtc}. */
export interface FakeWrtcOptions {
  readonly system: System;
  /** True if a relay responds at this address. */
  readonly responds: (ip: string, port: number) => boolean;
}

/** Delay before a relay that responds is connected, ms. */
const CONNECT_MS = 100;
const CANDIDATE = /candidate:\S+ \d+ udp \d+ (\S+) (\d+) typ /gi;

/** Makes a stand-in for `@roamhq/wrtc` whose peer connections reach the relays of a fake network. */
export function fakeWrtc({ system, responds }: FakeWrtcOptions): FakeWrtc {
  class RTCPeerConnection implements FakePeerConnection {
    iceConnectionState: FakePeerConnection["iceConnectionState"] = "new";
    remotePort: number | undefined;
    readonly #channels: FakeDataChannel[] = [];

    createDataChannel(): FakeDataChannel {
      const channel: FakeDataChannel = { readyState: "connecting", onopen: undefined };
      this.#channels.push(channel);
      return channel;
    }

    async createOffer(): Promise<FakeDescription> {
      return { type: "offer", sdp: "v=0\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:0\r\n" };
    }

    async setLocalDescription(): Promise<void> {}

    async setRemoteDescription({ sdp }: FakeDescription): Promise<void> {
      this.iceConnectionState = "checking";
      this.#check(sdp);
    }

    async addIceCandidate({ candidate }: { readonly candidate: string }): Promise<void> {
      if (this.iceConnectionState === "new") throw new Error("InvalidStateError: the remote description is missing");
      this.#check(candidate);
    }

    close(): void {
      this.iceConnectionState = "closed";
      for (const channel of this.#channels) channel.readyState = "closed";
    }

    #check(candidates: string): void {
      for (const [, ip = "", port] of candidates.matchAll(CANDIDATE))
        if (responds(ip, Number(port))) system.after(CONNECT_MS, () => this.#connect(Number(port)));
    }

    /** Connects to the first address that responds. */
    #connect(port: number): void {
      if (this.iceConnectionState !== "checking") return;
      this.iceConnectionState = "connected";
      this.remotePort = port;
      for (const channel of this.#channels) {
        channel.readyState = "open";
        channel.onopen?.();
      }
    }
  }
  return { RTCPeerConnection };
}
