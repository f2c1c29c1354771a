import type { System } from "../../ports/system.ts";
import type { WhatsAppCall, WhatsAppVoip } from "../../ports/whatsapp-client.ts";
import type { FakeWhatsAppCall } from "./call.ts";
import type { Faults } from "./faults.ts";
import type { FakeIncomingCall } from "./incoming-call.ts";
import { LIVE_FRAME_MS, LiveAudio, WATERMARKS } from "./live-audio.ts";
import { childOf, type FakeStanza, terminateStanza } from "./stanza.ts";
import { startTicker } from "./ticker.ts";

/** Dependencies of a client's calls. */
export interface VoipHost {
  readonly system: System;
  readonly faults: Faults;
  readonly maxConcurrentCalls: number;
  readonly newId: () => string;
  /** Sends a request to the network. Rejects if the socket is down. */
  readonly request: () => Promise<void>;
  /** Sends a stanza; returns false if it gets lost. Throws an Error if the socket is down. */
  readonly write: () => boolean;
  /** Hands a stanza to the network, unless it gets lost. Throws an Error if the socket is down. */
  readonly send: (stanza: FakeStanza) => void;
  /** Address of this device in its calls. */
  readonly address: () => string;
  readonly knownPeers: Set<string>;
  readonly emit: (event: string, argument: unknown) => void;
  /** The JID that the network uses for an address. */
  readonly resolve: (jid: string) => string;
  /** Hands an offer to the network; throws if the callee has no devices. */
  readonly offer: (callId: string, peerJid: string, token: Uint8Array | undefined, voip: FakeVoip) => FakeWhatsAppCall;
  /** The privacy token of a contact, by the address that is called; undefined for a stranger. */
  readonly tokenOf: (jid: string) => Promise<Uint8Array | undefined>;
  /** The incoming call of this id. */
  readonly incoming: (callId: string) => FakeIncomingCall | undefined;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A call as the client reports it: one object that changes with the call. */
interface FakeCallInfo extends WhatsAppCall {
  readonly stateData: Writable<WhatsAppCall["stateData"]> & { acceptBlocked?: boolean };
}

interface Session {
  readonly info: FakeCallInfo;
  readonly audio: LiveAudio;
  /** Address of the caller's device. */
  readonly creator: string;
  /** Address of the device that has accepted. */
  acceptedBy?: string;
  remote?: FakeWhatsAppCall | FakeIncomingCall;
  stopCapture?: () => void;
}

/** The calls of a {@link FakeWhatsAppClient}: `client.voip` until the next disconnect. */
export class FakeVoip implements WhatsAppVoip {
  readonly #host: VoipHost;
  readonly #sessions = new Map<string, Session>();

  constructor(host: VoipHost) {
    this.#host = host;
  }

  async startCall({ peerJid }: { peerJid: string; isVideo?: boolean }): Promise<string> {
    const { maxConcurrentCalls, newId, faults, request, write, knownPeers, resolve, offer, tokenOf } = this.#host;
    if (this.#usedSlots >= maxConcurrentCalls) throw new Error(`max concurrent calls reached (${maxConcurrentCalls})`);
    const callId = newId();
    const info = callInfo(callId, resolve(peerJid), "outgoing", "initiating");
    const session: Session = { info, audio: new LiveAudio(), creator: this.#host.address() };
    this.#sessions.set(callId, session);
    try {
      await faults.apply("startCall");
      if (!knownPeers.has(info.peerJid)) await request();
      knownPeers.add(info.peerJid);
      const token = await tokenOf(info.peerJid);
      // Even if the call was ended in the meantime, and over the next connection if the client has connected again.
      if (write()) session.remote = offer(callId, info.peerJid, token, this);
    } catch (error) {
      this.#sessions.delete(callId);
      throw error;
    }
    if (info.stateData.state === "ended") throw new Error("invalid transition 'offer_sent' in state 'ended'");
    if (this.#sessions.has(callId)) this.#change(session, "ringing");
    else info.stateData.state = "ringing"; // without an event: no device has the call
    return callId;
  }

  async endCall(callId: string, reason: unknown = "user_ended"): Promise<void> {
    const fault = this.#host.faults.take("endCall");
    if (fault !== undefined) await fault;
    const session = this.#sessions.get(callId);
    if (!session || session.info.stateData.state === "ended") return;
    this.#end(session, String(reason));
    await this.#sendTerminate(session);
    this.#sessions.delete(callId);
    this.#unblock();
  }

  setExternalAudioMode(callId: string, enabled: boolean): void {
    const session = this.#sessions.get(callId);
    if (!session) throw new Error(`No call with id ${callId}`);
    session.audio.setExternal(enabled);
  }

  feedLiveAudio(callId: string, samples: Float32Array): number {
    return this.#sessions.get(callId)?.audio.feed(samples) ?? 0;
  }

  getLiveBufferMs(callId: string): number {
    return this.#sessions.get(callId)?.audio.bufferedMs ?? 0;
  }

  getFeedWatermarksMs(): { pauseMs: number; resumeMs: number } {
    return { ...WATERMARKS };
  }

  setMute(callId: string, muted: boolean): void {
    const session = this.#sessions.get(callId);
    if (session?.info.stateData.state !== "active") return;
    session.info.stateData.audioMuted = muted;
    this.#host.emit("voip_call_state", session.info);
    if (muted) session.stopCapture?.();
    else this.#startCapture(session);
  }

  getCall(callId: string): WhatsAppCall | null {
    return this.#sessions.get(callId)?.info ?? null;
  }

  getCalls(): readonly WhatsAppCall[] {
    return [...this.#sessions.values()].map((session) => session.info);
  }

  /** Fed samples of a call that were never sent; 0 for an unknown call. */
  lostSamples(callId: string): number {
    return this.#sessions.get(callId)?.audio.lostSamples ?? 0;
  }

  /** Handles a `<call>` stanza; `<reject>` and everything unknown is ignored, as the real client ignores it. */
  handle(stanza: FakeStanza): void {
    const child = childOf(stanza);
    const callId = child?.attrs["call-id"];
    if (child === undefined || callId === undefined) return;
    if (child.tag === "offer") this.#handleIncoming(callId, stanza.attrs.from ?? "");
    const session = this.#sessions.get(callId);
    if (!session) return;
    if (child.tag === "accept" && session.info.stateData.state === "ringing") {
      session.info.stateData.acceptedAt = this.#now();
      session.acceptedBy = stanza.attrs.from ?? session.info.peerJid;
      this.#change(session, "connecting");
    } else if (child.tag === "terminate") {
      this.#end(session, "user_ended"); // whatever the reason in the stanza
      this.#sessions.delete(callId);
      this.#unblock();
    }
  }

  /** Connects the relay of a call. Does nothing unless the callee has accepted. */
  connectMedia(callId: string): void {
    const session = this.#sessions.get(callId);
    if (session?.info.stateData.state !== "connecting") return;
    session.info.stateData.connectedAt = this.#now();
    this.#change(session, "active");
    this.#startCapture(session);
  }

  /** Receives a frame from the callee. */
  receiveAudio(callId: string, pcm: Float32Array): void {
    const session = this.#sessions.get(callId);
    if (session?.info.stateData.state !== "active") return;
    this.#host.emit("voip_call_inbound_audio", { call: session.info, pcm });
  }

  /** Forgets all calls, without an event, as a disconnect does. */
  dispose(): void {
    for (const session of this.#sessions.values()) session.stopCapture?.();
    this.#sessions.clear();
  }

  #handleIncoming(callId: string, from: string): void {
    if (this.#sessions.has(callId)) return;
    const info = callInfo(callId, from, "incoming", "incoming_ringing");
    const isBlocked = this.#usedSlots >= this.#host.maxConcurrentCalls;
    if (isBlocked) info.stateData.acceptBlocked = true;
    const remote = this.#host.incoming(callId);
    this.#sessions.set(callId, { info, audio: new LiveAudio(), creator: from, ...(remote && { remote }) });
    if (!isBlocked) remote?.preaccept();
    this.#host.emit("voip_call_incoming", info);
    this.#host.emit("voip_call_state", info);
  }

  /** Gives a freed slot to an incoming call that waits for one. */
  #unblock(): void {
    for (const session of this.#sessions.values()) {
      if (this.#usedSlots >= this.#host.maxConcurrentCalls) return;
      if (session.info.stateData.acceptBlocked !== true) continue;
      session.info.stateData.acceptBlocked = false;
      if (session.remote && "preaccept" in session.remote) session.remote.preaccept();
      this.#host.emit("voip_call_state", session.info);
    }
  }

  /** Sends the end of a call to the network, which does not learn of it while the socket is down or dead. */
  async #sendTerminate({ info, creator, acceptedBy = info.peerJid }: Session): Promise<void> {
    const { newId, send } = this.#host;
    try {
      send(terminateStanza(newId(), acceptedBy, { callId: info.callId, creator }));
    } catch {
      // the real client logs it
    }
  }

  get #usedSlots(): number {
    return [...this.#sessions.values()].filter(
      ({ info }) => info.stateData.state !== "ended" && info.stateData.acceptBlocked !== true,
    ).length;
  }

  #startCapture(session: Session): void {
    session.stopCapture?.();
    session.audio.startCapture();
    session.stopCapture = startTicker(this.#host.system, LIVE_FRAME_MS, () => {
      const frame = session.audio.next();
      if (session.remote && "receive" in session.remote) session.remote.receive(frame);
    });
  }

  #end(session: Session, reason: string): void {
    const { stateData } = session.info;
    session.stopCapture?.();
    stateData.endedAt = this.#now();
    stateData.endReason = reason;
    if (stateData.connectedAt)
      stateData.durationSecs = Math.floor((stateData.endedAt.getTime() - stateData.connectedAt.getTime()) / 1000);
    stateData.state = "ended";
    this.#host.emit("voip_call_ended", session.info);
    this.#host.emit("voip_call_state", session.info);
  }

  #change(session: Session, state: string): void {
    session.info.stateData.state = state;
    this.#host.emit("voip_call_state", session.info);
  }

  #now(): Date {
    return new Date(this.#host.system.now());
  }
}

function callInfo(callId: string, peerJid: string, direction: string, state: string): FakeCallInfo {
  return { callId, peerJid, direction, stateData: { state, audioMuted: false } };
}
