import type { DialProgress } from "../../domain/calls/dial-progress.ts";
import type { MediaStatistics } from "../../domain/calls/media-statistics.ts";
import type { HeardEvidence } from "../../domain/calls/outcome.ts";
import type { RefusalScope, ReleaseCause } from "../../domain/calls/release-cause.ts";
import type { Fact } from "../../domain/events.ts";
import type { FrameSink, FrameSource } from "../media.ts";

/** Form in which pressed keys arrive: as leg events (RFC 4733 and the like), or only as tones in the audio. */
export type KeyDelivery = "event" | "in-band";

/** Result of a transfer. */
export type TransferOutcome =
  /**
   * The other number has answered, or the peer has left the call for it. `detail`: the network's own text, such as `SIP
   * 200 OK`.
   */
  | { readonly type: "accepted"; readonly detail: string | null }
  /** The call continues as before. `detail`: the reason, such as `SIP 486 Busy Here`. */
  | { readonly type: "failed"; readonly detail: string };

/** One call on the network. The leg owns the clock of its audio. */
export interface Leg {
  /** Sample rate in both directions, Hz; the audio is mono. */
  readonly sampleRate: number;
  /** Length of one frame, ms. */
  readonly frameMs: number;
  /**
   * The codec of its audio on the network, such as `PCMU`; read only after the answer; undefined if unknown. Audio for
   * G.711 legs of 8000 Hz can be passed through unchanged.
   */
  readonly codec?: string | undefined;
  /**
   * The Call-ID of its last INVITE, if the network speaks SIP, for finding the call in the provider's logs. Read when
   * the call is placed, when it is connected, and at its end.
   */
  readonly sipCallId?: string | undefined;
  /**
   * True if the leg itself detects that its call was lost with the line, and then ends with `line_lost`. The core
   * therefore does not end the call while its line is offline. Default: false.
   */
  readonly watchesLine?: boolean | undefined;
  /** The events of the call, in order; `ended` comes last and exactly once. For one reader. */
  readonly events: AsyncIterable<LegEvent>;
  /**
   * Connects the leg to its source and its sink. Called before the answer. From the answer on, the leg pulls one frame
   * per `frameMs` from the source and pushes every received frame into the sink, both synchronously, without
   * allocation. It pushes no frame before the first audio from the remote side: a sink without input reveals one-way
   * audio.
   */
  connectMedia(source: FrameSource, sink: FrameSink): void;
  /**
   * Form in which pressed keys arrive on this leg, if that is known only after the answer; read with each frame. A key
   * that arrives both as a tone and as an event counts once. Default: as in the capabilities.
   */
  readonly dtmf?: KeyDelivery | undefined;
  /** Sends keys to the callee: 0-9 * # A-D. */
  sendDtmf?(digits: string): Promise<void>;
  /**
   * Transfers an answered call: the network connects the callee with another number, without asking that number first
   * (a blind transfer). Only on networks whose capabilities have `transfers`.
   *
   * Resolves within about a minute. After `accepted` the core hangs up. A peer that leaves on its own, once it has
   * agreed to the transfer, counts as `accepted`; the promise then resolves before `ended` is emitted. After `failed`
   * the call continues: the network, the peer or the number has refused, or no outcome arrived in time. A number that
   * the network refuses, or that `mayCall` of the dial options does not allow, fails without a message to the network.
   * Audio continues in the meantime.
   *
   * Rejects for errors on our side: with a RangeError for anything but an E.164 number, with an Error before the
   * answer, after the end, and during another transfer; with the reason of the signal, which ends the wait but not the
   * transfer.
   */
  transfer?: ((to: string, signal: AbortSignal) => Promise<TransferOutcome>) | undefined;
  /**
   * Progress of the call before an answer. Read once, when the ring timeout has passed: a call that was not `reached`
   * ends as `unreachable` with this detail, any other as `no_answer`. Returns at once and does not throw. Without this
   * method, only `alerting` and `early_media` show that a person could have answered.
   */
  progress?(): DialProgress;
  /**
   * The network's statistics of the audio since the answer; null before the answer, and if the network has none.
   * Packets are counted from the start, so numbers never decrease, except for lost packets that arrive after all.
   * Called every few seconds while the call continues, and at its end: after `ended` was emitted, or just before the
   * hang-up. Returns at once and does not throw.
   */
  statistics?(): MediaStatistics | null;
  /**
   * The current evidence that the remote side receives our audio. Called at every event of the call, even after
   * `ended`; returns at once and does not throw. Without this method, received audio is the evidence, and none is
   * required.
   */
  evidence?(): MediaEvidence;
  /** Hangs up; resolves when the leg has ended. Idempotent. */
  hangUp(): Promise<void>;
}

/** The evidence that the remote side of a leg receives our audio. */
export interface MediaEvidence {
  readonly kind: HeardEvidence;
  /**
   * True if a call that ends without evidence has failed, unless the remote side hung up: that side should have sent
   * packets.
   */
  readonly required: boolean;
  /**
   * True if received audio is evidence only if `kind` is `inbound`: it may come from another sender. Default: all of it
   * is evidence.
   */
  readonly judgesAudio?: boolean | undefined;
  /**
   * The cause of missing evidence and its fix, if evidence is required; a sentence for `detail`. Default: a general
   * one.
   */
  readonly missing?: string | undefined;
}

/** An event of a call on the network. */
export type LegEvent =
  /**
   * The call was placed: the INVITE was sent, or the network has the offer. If a leg ends with `line_lost` before this
   * event, no phone rang, and its call returns to the queue.
   */
  | { readonly type: "placed" }
  /** The network reports that the callee's phone rings; without it a call that is not answered is `unreachable`. */
  | { readonly type: "alerting" }
  /** Audio arrives before the answer: an announcement, or a ringing tone. */
  | { readonly type: "early_media" }
  /** The callee has answered. */
  | { readonly type: "answered" }
  /**
   * The media path is up: negotiated, keyed, and the first frame handed to the network. If the call was answered on
   * hold, no frame has been sent yet.
   */
  | { readonly type: "connected" }
  /** Evidence other than audio has arrived after the answer; a call that waits only for that ends now. */
  | { readonly type: "evidence" }
  | { readonly type: "dtmf"; readonly digit: string }
  | { readonly type: "media_lost"; readonly detail: string }
  /**
   * For the timeline only: the peer holds or resumes the call, a signalling message was sent or received (secrets
   * masked), the call takes this route into the network, the network has another address for the number, the callee's
   * audio has stopped, or no packet is sent to the address that the peer named for its audio. During a hold the source
   * is not pulled, so its audio waits.
   */
  | {
      readonly type: "noted";
      readonly fact: Fact<
        | "held"
        | "resumed"
        | "signalling"
        | "route"
        | "media.inbound_silent"
        | "media.address_refused"
        | "address_resolved"
      >;
    }
  /**
   * `fault`: the remote side has hung up because of a fault, which `detail` names. `refusal`: what a
   * `rejected_by_network` applies to. Default: the number that calls.
   */
  | {
      readonly type: "ended";
      readonly cause: ReleaseCause;
      readonly detail: string | null;
      readonly fault?: boolean | undefined;
      readonly refusal?: RefusalScope | undefined;
    };
