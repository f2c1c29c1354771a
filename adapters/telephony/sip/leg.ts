import { errorText } from "../../../src/base/error-text.ts";
import { Queue } from "../../../src/base/queue.ts";
import type { FrameSink, FrameSource } from "../../../src/ports/media.ts";
import type { System } from "../../../src/ports/system.ts";
import type { Leg, LegEvent, MediaEvidence, ReleaseCause } from "../../../src/ports/telephony.ts";
import { FRAME_MS } from "../media-clock.ts";
import { AwaitedMedia } from "./awaited-media.ts";
import type { InviteEnd, InviteListener, InviteUsage } from "./dialog/invite.ts";
import { type MediaListener, type MediaSession, type MediaStatistics, NOTHING_CAME } from "./media/engine.ts";
import type { Release } from "./outcome/release.ts";
import { isTrunksFault } from "./outcome/trunks-fault.ts";

/** Duration of a key in SIP INFO, ms. */
const INFO_DIGIT_MS = 160;

/** What a leg needs. */
export interface SipLegOptions {
  readonly callId: string;
  readonly sampleRate: number;
  readonly system: Pick<System, "after">;
  /** Without any RTP and RTCP of a far side that was to send the call has failed. */
  readonly evidenceRequired: boolean;
  /** Makes the port's words of SIP's. */
  readonly releaseOf: (end: InviteEnd) => Release;
  /** Whether the far side takes telephone-events, as the negotiation has settled it. */
  readonly takesTelephoneEvents: () => boolean;
  /** The network has answered. */
  readonly answered: () => void;
  /** The call has ended, but is tried in another way: that one. */
  readonly again: (end: InviteEnd) => InviteUsage | undefined;
  /** The leg is gone. */
  readonly gone: (leg: SipLeg, end: InviteEnd, release: Release) => void;
}

/** One call over a trunk: the signalling of an INVITE and the audio of a media session, as one sequence of events. */
export class SipLeg implements Leg, InviteListener {
  readonly sampleRate: number;
  readonly frameMs: number = FRAME_MS;
  readonly events: Queue<LegEvent> = new Queue();
  readonly callId: string;
  /** Events of the media session. */
  readonly heard: MediaListener = {
    // The peer's BYE may overtake what the media thread reports; the end is emitted after it in any case.
    sending: () => {
      if (this.#isFirst("connected")) this.events.push({ type: "connected" });
    },
    receiving: () => {},
    evidence: () => this.#once({ type: "evidence" }),
    digit: (digit) => this.#key(digit, "rtp"),
    lost: (detail) => this.#once({ type: "media_lost", detail }),
  };
  readonly #options: SipLegOptions;
  /** Called with the reason if nothing is sent to the address in the far side's SDP; with undefined if it is allowed. */
  readonly refused = (refusal: string | undefined, address: string): void => {
    this.#awaited.settled(refusal);
    if (refusal === undefined) return;
    this.#tell({ type: "noted", event: "media.address_refused", data: { address, detail: refusal } });
  };
  readonly #awaited: AwaitedMedia;
  readonly #gone: Promise<void>;
  #resolveGone: () => void = () => {};
  #usage: InviteUsage | undefined;
  #media: MediaSession | undefined;
  /** Why it ends, if we end it without a hang-up. */
  #fault: { readonly cause: ReleaseCause; readonly detail: string } | undefined;
  #over = false;
  #hungUp = false;
  #unheard = true;
  #mayGoElsewhere = false;
  #end: InviteEnd | undefined;
  readonly #emitted = new Set<LegEvent["type"]>();
  /** How keys arrive; a far side that sends each of them twice, in both ways, is heard in the first one only. */
  #keysBy: "rtp" | "info" | undefined;

  constructor(options: SipLegOptions) {
    this.#options = options;
    this.callId = options.callId;
    this.sampleRate = options.sampleRate;
    this.#awaited = new AwaitedMedia({
      system: options.system,
      received: () => (this.#media?.statistics().packetsReceived ?? 0) > 0,
      lost: (detail) => this.heard.lost(detail),
    });
    this.#gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
  }

  /** The trunk did not take the call, and no phone can have rung: another trunk may be asked. */
  get mayGoElsewhere(): boolean {
    return this.#mayGoElsewhere;
  }

  /** How the INVITE usage ended; undefined before. */
  get end(): InviteEnd | undefined {
    return this.#end;
  }

  /** A far side without telephone-events sends keys as tones, or by INFO. */
  get dtmf(): "event" | "in-band" {
    return this.#options.takesTelephoneEvents() ? "event" : "in-band";
  }

  /** Both halves are there; nothing has happened yet. */
  begin(usage: InviteUsage, media: MediaSession): void {
    this.#usage = usage;
    this.#media = media;
  }

  connectMedia(source: FrameSource, sink: FrameSink): void {
    if (this.#over) return;
    this.#media?.connect(
      {
        read: (frame) => {
          if (this.#over) return silence(frame);
          try {
            return source.read(frame);
          } catch (fault) {
            this.#broken(fault);
            return silence(frame);
          }
        },
        ahead: source.ahead,
      },
      {
        write: (frame) => {
          if (this.#over) return;
          try {
            sink.write(frame);
          } catch (fault) {
            this.#broken(fault);
          }
        },
      },
    );
  }

  /** Sends keys; rejects with a RangeError for other characters, and with an Error if the peer takes no keys. */
  async sendDtmf(digits: string): Promise<void> {
    if (!/^[0-9*#A-Da-d]*$/.test(digits))
      throw new RangeError(`${JSON.stringify(digits)} are not keys of a telephone.`);
    if (this.#over || digits === "") return;
    if (this.#options.takesTelephoneEvents()) return await this.#media?.sendDigits(digits);
    for (const digit of digits) await this.#usage?.sendDigit(digit.toUpperCase(), INFO_DIGIT_MS);
  }

  /** Null before the answer. */
  statistics(): MediaStatistics | null {
    return this.#emitted.has("answered") ? (this.#media?.statistics() ?? null) : null;
  }

  evidence(): MediaEvidence {
    const { kind, expected } = this.#media?.evidence() ?? NOTHING_CAME;
    return { kind, required: expected && this.#options.evidenceRequired };
  }

  hangUp(): Promise<void> {
    if (!this.#hungUp && !this.#over) {
      this.#hungUp = true;
      this.#awaited.stop();
      void this.#usage?.hangUp();
      // A far side that does not answer our BYE is given its time, but is not played to meanwhile.
      void this.#media?.close();
    }
    return this.#gone;
  }

  placed(): void {
    this.#once({ type: "placed" });
  }

  progressed(): void {
    this.#options.answered();
  }

  ringing(): void {
    if (!this.#emitted.has("answered")) this.#once({ type: "alerting" });
  }

  earlyMedia(): void {
    if (!this.#emitted.has("answered")) this.#once({ type: "early_media" });
  }

  answered(): void {
    this.#options.answered();
    this.#once({ type: "answered" });
    this.#media?.start();
    this.#awaited.answered();
  }

  digit(digit: string): void {
    this.#key(digit, "info");
  }

  held(held: boolean): void {
    // Who answers on hold lets us send nothing yet, but has taken the call: that is all there is to wait for.
    if (held) this.#once({ type: "connected" });
    this.#tell({ type: "noted", event: held ? "held" : "resumed", data: {} });
  }

  /** A message of the signalling went by. */
  traced(data: Extract<LegEvent, { type: "noted" }>["data"]): void {
    this.#tell({ type: "noted", event: "signalling", data });
  }

  ended(end: InviteEnd): void {
    if (this.#over) return;
    this.#unheard &&= "unheard" in end && end.unheard === true;
    const next = this.#hungUp ? undefined : this.#options.again(end);
    if (next !== undefined) {
      this.#usage = next;
      return;
    }
    this.#over = true;
    this.#end = end;
    this.#awaited.stop();
    this.#mayGoElsewhere = this.#unheard && isTrunksFault(end);
    const release = this.#fault === undefined ? this.#options.releaseOf(end) : this.#fault;
    void this.#leave(end, release);
  }

  async #leave(end: InviteEnd, release: Release): Promise<void> {
    await this.#media?.close().catch(() => {}); // the call is over, whatever its sockets say
    this.events.push({ type: "ended", cause: release.cause, detail: release.detail });
    this.events.close();
    this.#options.gone(this, end, release);
    this.#resolveGone();
  }

  #key(digit: string, by: "rtp" | "info"): void {
    if (this.dtmf === "in-band") this.#keysBy = undefined; // telephone-events were another phone's
    this.#keysBy ??= by;
    if (this.#keysBy === by) this.#tell({ type: "dtmf", digit });
  }

  #broken(fault: unknown): void {
    this.#fault ??= { cause: "internal_error", detail: errorText(fault) };
    void this.hangUp();
  }

  #once(event: LegEvent): void {
    if (this.#isFirst(event.type)) this.#tell(event);
  }

  #isFirst(type: LegEvent["type"]): boolean {
    if (this.#emitted.has(type)) return false;
    this.#emitted.add(type);
    return true;
  }

  #tell(event: LegEvent): void {
    if (!this.#over) this.events.push(event);
  }
}

function silence(frame: Int16Array): number {
  frame.fill(0);
  return 0;
}
