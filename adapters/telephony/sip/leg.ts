import { FRAME_MS } from "../../../src/audio/playout/media-clock.ts";
import { errorText } from "../../../src/base/error.ts";
import { Queue } from "../../../src/base/queue.ts";
import { shown } from "../../../src/base/shown.ts";
import { within } from "../../../src/base/timers.ts";
import type { EventData } from "../../../src/domain/events.ts";
import { PHONE_NUMBER, PHONE_RULE } from "../../../src/domain/numbers/phone-number.ts";
import type { FrameSink, FrameSource } from "../../../src/ports/media.ts";
import type { System } from "../../../src/ports/system.ts";
import type {
  DialProgress,
  KeyDelivery,
  Leg,
  LegEvent,
  MediaEvidence,
  ReleaseCause,
  TransferOutcome,
} from "../../../src/ports/telephony.ts";
import type { InviteEnd, InviteListener, InviteUsage } from "../../sip-stack/dialog/invite.ts";
import {
  type MediaListener,
  type MediaSession,
  type MediaStatistics,
  NO_STREAM_EVIDENCE,
} from "../../sip-stack/media/engine.ts";
import { AwaitedMedia } from "./awaited-media.ts";
import { guardedAudio } from "./guarded-audio.ts";
import { assertKeys, LegKeys } from "./leg-keys.ts";
import { dialProgress, isTrunkFault, type Release } from "./outcome/release.ts";

/** Options of {@link SipLeg}. */
export interface SipLegOptions {
  readonly callId: string;
  readonly sampleRate: number;
  readonly system: Pick<System, "after">;
  /** True if a call fails without any remote RTP and RTCP, unless the peer only receives. */
  readonly evidenceRequired: boolean;
  /** Maps a call's SIP end, answered or not, to a release for the telephony port. */
  readonly releaseOf: (end: InviteEnd, answered: boolean) => Release;
  /**
   * The target of a transfer to a number, or the reason why it is refused; undefined if the trunk transfers no calls.
   */
  readonly transferTarget?: ((to: string) => Promise<TransferTarget>) | undefined;
  /** True if the peer has negotiated telephone-events. */
  readonly acceptsTelephoneEvents: () => boolean;
  /** Called when the network has responded. */
  readonly onResponse: () => void;
  /** Called with the end of an INVITE; returns the INVITE that follows it, if any. */
  readonly nextInvite: (end: InviteEnd) => InviteUsage | undefined;
  /** Called when the leg has ended. */
  readonly onEnded: (leg: SipLeg, end: InviteEnd, release: Release) => void;
}

/** Maximum duration of a transfer, ms; longer than the INVITE usage needs. */
const TRANSFER_LIMIT_MS = 70_000;

/** The reason why evidence is missing, while a silent peer does not respond. */
const NOT_RESPONDING = "the peer has stopped sending audio, and has not responded to OPTIONS so far";
const COMPLETION_HINT = 'a trunk with "requireInboundAudio": false completes such calls';
const NOTHING_RECEIVED = `neither audio nor RTCP came from the peer, so nothing shows that it received ours; ${COMPLETION_HINT}`;
const WRONG_SOURCE = `audio came neither from the host in the peer's SDP nor from the trunk's server, so nothing shows that the peer received ours; ${COMPLETION_HINT}`;

/** The SIP URI for a number, or the reason why no request is sent. */
export type TransferTarget = { readonly uri: string } | { readonly refusal: string };

/** One call over a trunk: the signalling of an INVITE and the audio of a media session, as one sequence of events. */
export class SipLeg implements Leg, InviteListener {
  readonly sampleRate: number;
  readonly frameMs: number = FRAME_MS;
  readonly events: Queue<LegEvent> = new Queue();
  readonly callId: string;
  /** Transfers the call; returns undefined if the trunk transfers no calls. */
  readonly transfer: Leg["transfer"];
  /** Receives the events of the media session. */
  readonly mediaListener: MediaListener = {
    // The peer's BYE may overtake a report from the media thread; the end is emitted last in any case.
    sending: () => {
      if (this.#isFirst("connected")) this.events.push({ type: "connected" });
    },
    receiving: () => {},
    evidence: () => this.#emitOnce({ type: "evidence" }),
    digit: (digit) => this.#keys.receive(digit, "rtp"),
    silent: (detail) => void this.#probe(detail),
    lost: (detail) => this.#emitOnce({ type: "media_lost", detail }),
  };
  readonly #options: SipLegOptions;
  /** Called with the reason if no packet is sent to the address in the remote SDP; with undefined if it is allowed. */
  readonly addressRefused = (refusal: string | undefined, address: string): void => {
    this.#awaitedMedia.negotiated(refusal);
    if (refusal === undefined) return;
    this.#emit({ type: "noted", fact: { event: "media.address_refused", data: { address, detail: refusal } } });
  };
  readonly #awaitedMedia: AwaitedMedia;
  readonly #ended = Promise.withResolvers<void>();
  #usage: InviteUsage | undefined;
  #media: MediaSession | undefined;
  /** Reason for the end, if we end the call without a hang-up. */
  #fault: { readonly cause: ReleaseCause; readonly detail: string } | undefined;
  #hasEnded = false;
  #isTransferring = false;
  #isProbing = false;
  #hasHungUp = false;
  #neverRang = true;
  #canTryOtherTrunk = false;
  #end: InviteEnd | undefined;
  readonly #emittedTypes = new Set<LegEvent["type"]>();
  readonly #keys: LegKeys;

  constructor(options: SipLegOptions) {
    this.#options = options;
    this.callId = options.callId;
    this.sampleRate = options.sampleRate;
    const { transferTarget } = options;
    this.transfer = transferTarget && ((to, signal) => this.#transfer(to, transferTarget, signal));
    this.#keys = new LegKeys(options.acceptsTelephoneEvents, (digit) => this.#emit({ type: "dtmf", digit }));
    this.#awaitedMedia = new AwaitedMedia({
      system: options.system,
      hasReceived: () => (this.#media?.statistics().packetsReceived ?? 0) > 0,
      onTimeout: (detail) => this.mediaListener.lost(detail),
    });
  }

  /** True if the trunk did not accept the call and no phone can have rung, so that another trunk may be tried. */
  get canTryOtherTrunk(): boolean {
    return this.#canTryOtherTrunk;
  }

  /** End of the INVITE usage; undefined until then. */
  get end(): InviteEnd | undefined {
    return this.#end;
  }

  get sipCallId(): string | undefined {
    return this.#usage?.callId;
  }

  get codec(): string | undefined {
    return this.#media?.codec;
  }

  get dtmf(): KeyDelivery {
    return this.#keys.dtmf;
  }

  /** Starts with the INVITE usage and the media session, before any of their events. */
  begin(usage: InviteUsage, media: MediaSession): void {
    this.#usage = usage;
    this.#media = media;
  }

  connectMedia(source: FrameSource, sink: FrameSink): void {
    if (this.#hasEnded) return;
    const guardedMedia = guardedAudio(source, sink, {
      hasEnded: () => this.#hasEnded,
      onError: (fault) => this.#fail(fault),
    });
    this.#media?.connect(guardedMedia.source, guardedMedia.sink);
  }

  /** Sends keys; rejects with a RangeError for other characters, and with an Error if the peer accepts no keys. */
  async sendDtmf(digits: string): Promise<void> {
    assertKeys(digits);
    if (this.#hasEnded || digits === "") return;
    await this.#keys.send(digits, this.#media, this.#usage);
  }

  /** The audio statistics; null before the answer. */
  statistics(): MediaStatistics | null {
    return this.#emittedTypes.has("answered") ? (this.#media?.statistics() ?? null) : null;
  }

  progress(): DialProgress {
    return dialProgress(this.#usage?.furthestStatus);
  }

  evidence(): MediaEvidence {
    const { kind, expected, fromOtherHost } = this.#media?.evidence() ?? NO_STREAM_EVIDENCE;
    const required = expected && this.#options.evidenceRequired;
    // Packets from before the silence do not prove that the peer has received the latest audio.
    if (this.#isProbing && kind !== "none")
      return { kind: "none", required, judgesAudio: true, missing: NOT_RESPONDING };
    return { kind, required, judgesAudio: true, missing: fromOtherHost ? WRONG_SOURCE : NOTHING_RECEIVED };
  }

  async #transfer(
    to: string,
    transferTarget: (to: string) => Promise<TransferTarget>,
    signal: AbortSignal,
  ): Promise<TransferOutcome> {
    signal.throwIfAborted();
    if (!PHONE_NUMBER.test(to)) throw new RangeError(`the number ${shown(to)} ${PHONE_RULE}`);
    const endedError = (): Error => new Error("the call cannot be transferred: it has ended");
    if (this.#hasEnded || this.#usage === undefined) throw endedError();
    const target = await transferTarget(to);
    signal.throwIfAborted();
    if (this.#hasEnded || this.#hasHungUp) throw endedError();
    if ("refusal" in target) return { type: "failed", detail: target.refusal };
    const outcome = this.#usage.refer(target.uri);
    this.#isTransferring = true;
    const createTimeoutError = (): Error => new Error(`no outcome came within ${TRANSFER_LIMIT_MS / 1_000} s`);
    try {
      return await within(outcome, {
        system: this.#options.system,
        ms: TRANSFER_LIMIT_MS,
        timeoutError: createTimeoutError,
        signal,
      });
    } finally {
      if (!this.#hasEnded) this.#isTransferring = false;
    }
  }

  /** Asks a silent peer whether it still has the call: like many PBXs, it may be receiving without sending. */
  async #probe(silence: string): Promise<void> {
    if (this.#isProbing || this.#hasEnded || this.#hasHungUp) return;
    this.#isProbing = true;
    const fault = await this.#usage?.probe();
    this.#isProbing = fault !== undefined;
    if (this.#hasHungUp || fault === undefined) return;
    this.mediaListener.lost(`${silence}; it ${fault}`);
  }

  hangUp(): Promise<void> {
    if (!this.#hasHungUp && !this.#hasEnded) {
      this.#hasHungUp = true;
      this.#awaitedMedia.stop();
      void this.#usage?.hangUp();
      // A peer may take its time to respond to our BYE, but gets no audio in the meantime.
      void this.#media?.close();
    }
    return this.#ended.promise;
  }

  placed(): void {
    this.#emitOnce({ type: "placed" });
  }

  progressed(): void {
    this.#options.onResponse();
  }

  ringing(): void {
    if (!this.#emittedTypes.has("answered")) this.#emitOnce({ type: "alerting" });
  }

  earlyMedia(): void {
    if (!this.#emittedTypes.has("answered")) this.#emitOnce({ type: "early_media" });
  }

  answered(): void {
    this.#options.onResponse();
    this.#emitOnce({ type: "answered" });
    this.#media?.start();
    this.#awaitedMedia.answered();
  }

  digit(digit: string): void {
    this.#keys.receive(digit, "info");
  }

  holdChanged(isHeld: boolean): void {
    // A callee who answers on hold gets no audio yet, but the call is connected.
    if (isHeld) this.#emitOnce({ type: "connected" });
    this.#emit({ type: "noted", fact: { event: isHeld ? "held" : "resumed", data: {} } });
  }

  /** Emits a signalling message that was sent or received. */
  recordSignalling(data: EventData["signalling"]): void {
    this.#emit({ type: "noted", fact: { event: "signalling", data } });
  }

  ended(end: InviteEnd): void {
    if (this.#hasEnded) return;
    this.#neverRang &&= "neverRang" in end && end.neverRang === true;
    const next = this.#hasHungUp ? undefined : this.#options.nextInvite(end);
    if (next !== undefined) {
      this.#usage = next;
      return;
    }
    this.#hasEnded = true;
    this.#end = end;
    this.#awaitedMedia.stop();
    this.#canTryOtherTrunk = this.#neverRang && isTrunkFault(end);
    const release = this.#fault ?? this.#options.releaseOf(end, this.#emittedTypes.has("answered"));
    void this.#emitEnd(end, release);
  }

  async #emitEnd(end: InviteEnd, release: Release): Promise<void> {
    // A pending transfer resolves before the end of the call is emitted.
    if (this.#isTransferring) await new Promise<void>((resolve) => void this.#options.system.after(0, resolve));
    await this.#media?.close().catch(() => {}); // the call has ended even if its sockets fail to close
    this.events.push({ type: "ended", cause: release.cause, detail: release.detail, fault: release.fault });
    this.events.close();
    this.#options.onEnded(this, end, release);
    this.#ended.resolve();
  }

  #fail(fault: unknown): void {
    this.#fault ??= { cause: "internal_error", detail: errorText(fault) };
    void this.hangUp();
  }

  #emitOnce(event: LegEvent): void {
    if (this.#isFirst(event.type)) this.#emit(event);
  }

  #isFirst(type: LegEvent["type"]): boolean {
    if (this.#emittedTypes.has(type)) return false;
    this.#emittedTypes.add(type);
    return true;
  }

  #emit(event: LegEvent): void {
    if (!this.#hasEnded) this.events.push(event);
  }
}
