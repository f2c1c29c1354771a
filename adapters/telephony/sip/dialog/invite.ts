import type { SipResponse } from "../message/message.ts";
import type { Caller, MayFollow } from "./agent.ts";

/**
 * Why an INVITE usage is over, in SIP's own words; `outcome/` makes a release cause of it. `unheard`: no phone can have
 * rung. Each INVITE that may have arrived was finally refused, and no other provisional response than 100 came.
 */
export type InviteEnd =
  /** A final response of 300 to 699 (after redirects and authentication). */
  | {
      readonly type: "rejected";
      readonly response: SipResponse;
      /** Whether the callee had been alerted. */
      readonly rang: boolean;
      /** Whether the network had worked on the call (an 18x): then a phone may have rung. */
      readonly progressed: boolean;
      /** Why a challenge could not be answered (401, 407), as a sentence. */
      readonly refusal?: string | undefined;
      readonly unheard?: boolean | undefined;
    }
  /** The far side sent BYE; with the value of its Reason field. */
  | { readonly type: "bye"; readonly reason: string | undefined }
  /** We ended it: cancelled, or BYE. */
  | { readonly type: "released" }
  /** Nothing could be sent, or nothing came: DNS, transport, timer B; a sentence for a person. */
  | { readonly type: "unreachable"; readonly detail: string; readonly unheard?: boolean | undefined }
  /** No common codec, an answer without SDP, a hold that was too long, a session timer that ran out. */
  | { readonly type: "media"; readonly detail: string }
  /** The peer broke the protocol, or so did we. */
  | { readonly type: "protocol"; readonly detail: string };

/** The offerer's side of offer and answer (RFC 3264): knows codecs and keys, and nothing of SIP. */
export interface Negotiator {
  /**
   * Our offer, the first or a later one: everything that we can do; SDP.
   * @param anew it may be for somebody else: with new keys. Default: false
   */
  offer(anew?: boolean): string;
  /**
   * The answer to our offer, of a 2xx, or of a reliable or unreliable 18x (then `early`). Undefined when all is well;
   * else why no call can be had with it, as a sentence.
   */
  answered(sdp: string, early: boolean): string | undefined;
  /**
   * The far side's new offer (re-INVITE, UPDATE): our answer; undefined: 488, and everything stays as it was.
   * @param early before the call is answered (UPDATE in an early dialog, RFC 3311); default: false
   */
  reoffered(sdp: string, early?: boolean): string | undefined;
  /** The call is answered with what an early offer has settled. */
  confirmed(): void;
}

/** What becomes of a call. In this order; `ended` comes last and exactly once. None may throw. */
export interface InviteListener {
  /** The INVITE is on its way. */
  placed(): void;
  /** The network works on the call: the first provisional response after 100; once. */
  progressed(): void;
  /** The callee is alerted: 180, or 183 with Alert-Info; once. */
  ringing(): void;
  /** The far side sends audio before the answer: SDP in an 18x. */
  earlyMedia(): void;
  /** 2xx with a usable answer; the ACK is on its way. */
  answered(): void;
  /** A key, by SIP INFO (application/dtmf-relay or application/dtmf). */
  digit(digit: string): void;
  /** The far side holds us, or lets go (its offer was sendonly or inactive, or is no more). */
  held(held: boolean): void;
  ended(end: InviteEnd): void;
}

/** One outbound call: an INVITE and the dialog that comes of it (RFC 3261 sections 13 to 15). */
export interface InviteUsage {
  /** The Call-ID on the wire. */
  readonly callId: string;
  /**
   * CANCEL before the answer, BYE after it, both when they cross; at most 4 s. Idempotent; resolves when `ended` was
   * told.
   * @param reason the value of a Reason field (RFC 3326)
   */
  hangUp(reason?: string): Promise<void>;
  /**
   * A key by SIP INFO (application/dtmf-relay), for far sides without telephone-event. Rejects where it was refused.
   */
  sendDigit(digit: string, durationMs: number): Promise<void>;
}

/** What is asked of a user agent. */
export interface InviteRequest {
  /** Request-URI, and To without its port. */
  readonly target: string;
  /** Default: From of the trunk, and nothing more. */
  readonly caller?: Caller | undefined;
  /** The core's id of the call, for the trace. */
  readonly callId: string;
  readonly negotiator: Negotiator;
  readonly listener: InviteListener;
  /** Asked before each INVITE and each refresh of the session, repetitions included; left out: they may always be sent. */
  readonly maySend?: (() => boolean) | undefined;
  /** Asked about each place that a redirection names; left out: every place is followed. */
  readonly mayFollow?: MayFollow | undefined;
}
