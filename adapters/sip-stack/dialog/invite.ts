import type { ChallengeRefusal } from "../auth/challenge.ts";
import type { SipResponse } from "../message/sip-message.ts";
import type { TransferOutcome, Transitions } from "../ports.ts";
import type { Caller, HeaderField, MayFollow } from "./user-agent-options.ts";

/**
 * Reason for the end of an INVITE usage, in terms of SIP; `outcome/` derives the release cause. `neverRang`: no phone
 * can have rung, because each INVITE that may have arrived got a final refusal, and no provisional response other than
 * 100 arrived.
 */
export type InviteEnd =
  /** A final response of 300 to 699 (after redirects and authentication). */
  | {
      readonly type: "rejected";
      readonly response: SipResponse;
      /** True if the callee had been alerted. */
      readonly hasRung: boolean;
      /** True after a provisional response other than 100: a phone may have rung. */
      readonly hasProgressed: boolean;
      /** Reason why a challenge could not be answered (401, 407). */
      readonly refusal?: ChallengeRefusal | undefined;
      readonly neverRang?: boolean | undefined;
    }
  /** The peer sent BYE; with the value of its Reason field. */
  | { readonly type: "bye"; readonly reason: string | undefined }
  /** We ended it, by CANCEL or BYE. */
  | { readonly type: "released" }
  /** The request could not be sent, or got no response: DNS, transport, timer B. */
  | {
      readonly type: "unreachable";
      readonly detail: string;
      /** True if the request went to the URI of a redirection instead of our trunk. */
      readonly isRedirected?: boolean | undefined;
      readonly neverRang?: boolean | undefined;
    }
  /** No common codec, an answer without SDP, a hold beyond its limit, an expired session timer. */
  | {
      readonly type: "media";
      readonly detail: string;
      /** True if the peer's session description was unacceptable. */
      readonly isUnacceptable?: boolean | undefined;
    }
  /** The peer violated the protocol, or we did. */
  | { readonly type: "protocol"; readonly detail: string };

/** The offerer of an offer/answer exchange (RFC 3264): handles codecs and keys, but not SIP. */
export interface Negotiator {
  /**
   * Our offer as SDP, the first or a later one, with all codecs we support.
   * @param newKeys true if the offer may reach another phone, and gets new keys. Default: false
   */
  offer(newKeys?: boolean): string;
  /**
   * Handles the answer to our offer from a 2xx, or from a reliable or unreliable 18x (then `isEarly`). Returns the
   * reason if the answer makes the call impossible; undefined if it is acceptable.
   */
  takeAnswer(sdp: string, isEarly: boolean): string | undefined;
  /**
   * Our answer to the peer's new offer (re-INVITE, UPDATE); undefined if it is refused with 488, which changes nothing.
   * @param isEarly true before the call is answered (UPDATE in an early dialog, RFC 3311); default: false
   */
  answerOffer(sdp: string, isEarly?: boolean): string | undefined;
  /** Called when the call is answered with the media agreed in the peer's early offer. */
  confirm(): void;
}

/** Events of a call, in this order; `ended` comes last and exactly once. Callbacks must not throw. */
export interface InviteListener {
  /** The INVITE has been sent. */
  placed(): void;
  /** The first provisional response other than 100; once. */
  progressed(): void;
  /** The callee is alerted: 180, or 183 with Alert-Info; once. */
  ringing(): void;
  /** The peer sends audio before the answer: SDP in an 18x; once. */
  earlyMedia(): void;
  /** 2xx with a usable answer; the ACK has been sent. */
  answered(): void;
  /** The callee pressed a key, reported by SIP INFO (application/dtmf-relay or application/dtmf). */
  digit(digit: string): void;
  /** The peer puts us on hold (sendonly or inactive in its SDP), or resumes. */
  holdChanged(isHeld: boolean): void;
  ended(end: InviteEnd): void;
}

/** One outbound call: an INVITE and its dialog (RFC 3261 sections 13 to 15). */
export interface InviteUsage {
  /** The Call-ID on the wire. */
  readonly callId: string;
  /** The provisional response with the most progress: any 18x, otherwise 100; undefined if neither has arrived. */
  readonly furthestStatus: number | undefined;
  /**
   * Sends CANCEL before the answer, BYE after it, or both if they cross. Idempotent; resolves after `ended`, within
   * 4 s.
   * @param reason the value of a Reason field (RFC 3326)
   */
  hangUp(reason?: string): Promise<void>;
  /**
   * Sends a key by SIP INFO (application/dtmf-relay), for peers without telephone-event. Rejects if the peer refuses it.
   */
  sendDigit(digit: string, durationMs: number): Promise<void>;
  /**
   * Checks that the peer is alive (OPTIONS within the dialog). Resolves within 4 s: with undefined if the peer still
   * has the call, or has ended it; otherwise with the evidence that it no longer has the call, such as `responded to
   * OPTIONS with 481`.
   */
  probe(): Promise<string | undefined>;
  /**
   * Asks the peer to call this URI instead of us (REFER, RFC 3515); resolves within 60 s. Does not hang up. A BYE from
   * a peer that has agreed means that the transfer succeeded. Rejects before the answer, during another transfer, and
   * if the call ends.
   */
  refer(uri: string): Promise<TransferOutcome>;
}

/** A call to place. */
export interface InviteRequest {
  /** Request-URI, and To without its port. */
  readonly target: string;
  /** Default: the trunk's From, without further fields. */
  readonly caller?: Caller | undefined;
  /** Header fields for this call only; they replace the trunk's. Default: none. */
  readonly headers?: readonly HeaderField[] | undefined;
  /** The core's call id, for the trace. */
  readonly callId: string;
  readonly negotiator: Negotiator;
  readonly listener: InviteListener;
  /** Called with the source host of a response, before the response is processed. */
  readonly respondedFrom?: ((host: string) => void) | undefined;
  /** Called before each INVITE, session refresh and retransmission; false suppresses it. Default: always true. */
  readonly maySend?: (() => boolean) | undefined;
  /** Called for each URI of a redirection. Default: every URI is followed. */
  readonly mayFollow?: MayFollow | undefined;
}

/** The state of an outbound call: an INVITE and its dialog. */
export type InviteState = "calling" | "cancelling" | "established" | "releasing" | "ended";

/**
 * Inputs. `answer`: a 2xx with usable media; `unacceptable`: a 2xx without usable media, which gets a BYE; `hangUp`: we
 * end the call, on request or by a timer; `end`: the call has ended.
 */
export type InviteInput = "answer" | "unacceptable" | "hangUp" | "end";

/** Transitions of an outbound call (RFC 3261 sections 9, 13 and 15). */
export const INVITE_TRANSITIONS: Transitions<InviteState, InviteInput> = {
  calling: { answer: "established", unacceptable: "releasing", hangUp: "cancelling", end: "ended" },
  // The answer has crossed our CANCEL: it gets its ACK, and a BYE.
  cancelling: { answer: "releasing", unacceptable: "releasing", end: "ended" },
  established: { hangUp: "releasing", end: "ended" },
  releasing: { end: "ended" },
  ended: {},
};
