import type { ChallengeRefusal } from "../auth/challenge.ts";
import type { DigestClient } from "../auth/digest.ts";
import type { SipMessage, SipRequest, SipResponse } from "../message/sip-message.ts";
import type { SipUri } from "../message/uri.ts";
import type { Logger, System } from "../ports.ts";
import type { Transactions } from "../transaction/transactions.ts";
import type { Flow } from "../transport/transport.ts";
import type { InviteRequest, InviteUsage } from "./invite.ts";

/** Allow (RFC 3261 section 20.5): the methods we understand, within a dialog or outside of one. */
export const ALLOW: HeaderField = ["Allow", "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, NOTIFY"];

/** Accept (RFC 3261 section 20.1): the bodies we understand. */
export const ACCEPT: HeaderField = ["Accept", "application/sdp, application/dtmf-relay, application/dtmf"];

/** Option tags of the extensions we support (RFC 3261 section 19.2). */
export type Extension = "timer" | "100rel";

export const EXTENSIONS: readonly Extension[] = ["timer", "100rel"];

/** The fields of our 200 to OPTIONS (RFC 3261 section 11.2). */
export const CAPABILITIES: readonly HeaderField[] = [ALLOW, ACCEPT, ["Supported", EXTENSIONS.join(", ")]];

/** The unknown option tags of a Require list; a request with any is refused with 420 (RFC 3261 section 8.2.2.3). */
export function unknownExtensions(required: readonly string[]): string[] {
  return required.filter((tag) => !EXTENSIONS.some((extension) => extension === tag.toLowerCase()));
}

/** The caller of an INVITE as header values. */
export interface Caller {
  /** From, without its tag: `"Ringport" <sip:100@example.com>`. */
  readonly from: string;
  /** P-Asserted-Identity, Privacy and the like. */
  readonly headers: readonly HeaderField[];
}

/** Our identity on a trunk as header values. */
export interface Identity {
  /** From of requests outside of calls, without its tag. */
  readonly from: string;
  /** The URI of our Contact in messages on this flow; `sentBy` is our address there, `host[:port]`. */
  contact(sentBy: string, flow: Flow): string;
  /** Extra fields for every INVITE. */
  readonly headers: readonly HeaderField[];
  /** User-Agent of our requests and Server of our responses. */
  readonly product: string;
}

/** True if a redirection to this URI is followed. */
export type MayFollow = (place: SipUri) => Promise<boolean>;

/** Name and value. */
export type HeaderField = readonly [name: string, value: string];

/** Options of a user agent. */
export interface UserAgentOptions {
  readonly transactions: Transactions;
  readonly identity: Identity;
  /** Answers challenges, and sends credentials for known ones in advance. */
  readonly digest: DigestClient;
  /** True if our credentials are for the server at this URI, or for the peer of this flow. */
  trusts(server: string | Flow): boolean;
  /**
   * The next hop of a request outside of a dialog, by its Request-URI: the outbound proxy, the trunk's server, or the
   * URI itself.
   */
  nextHop(uri: string): string;
  /** Route values of requests outside of a dialog: `<sip:proxy.example.com;lr>`. Default: none. */
  readonly routes?: readonly string[] | undefined;
  /** Offers session timers (RFC 4028), and refreshes sessions if the peer asks for it. Default: true. */
  readonly sessionTimers?: boolean | undefined;
  /** Supports reliable provisional responses (RFC 3262). Default: true. */
  readonly reliableProvisionals?: boolean | undefined;
  /** Follows 301 and 302, at most five times, to the URIs that the call's `mayFollow` allows. Default: false. */
  readonly followRedirects?: boolean | undefined;
  /** Time for which a callee may put us on hold before the call is hung up, ms. Default: 60,000. */
  readonly holdTimeoutMs?: number | undefined;
  readonly system: System;
  readonly logger: Logger;
  /** Receives every message of a call once; retransmissions by the transaction layer are left out. */
  readonly trace?: ((callId: string, direction: "sent" | "received", message: SipMessage) => void) | undefined;
}

/** Requests with one Call-ID, one From tag and increasing CSeq: a REGISTER and its refreshes. */
export interface RequestSeries {
  readonly callId: string;
  readonly fromTag: string;
  /** CSeq of the latest request. */
  cseq: number;
}

/** A request outside of any call. */
export interface AgentRequest {
  /** `REGISTER`, `OPTIONS`. */
  readonly method: string;
  /** Request-URI. */
  readonly uri: string;
  /** Value of To. Default: the Request-URI in brackets, without its port. */
  readonly to?: string | undefined;
  /** Value of From without a tag. Default: the identity's. */
  readonly from?: string | undefined;
  /** Contact is added unless it is set here. */
  readonly headers?: readonly HeaderField[] | undefined;
  /** Default: a new series. */
  readonly series?: RequestSeries | undefined;
  /** The flow to send on, such as the flow of a registration. Default: the next hop that the Request-URI resolves to. */
  readonly flow?: Flow | undefined;
}

/** The final response to a request, with the flow it arrived on. */
export interface AgentReply {
  /** 200 to 699; a 401 or 407 only if the challenge could not be answered. */
  readonly response: SipResponse;
  readonly flow: Flow;
  /** The latest version of the request that was sent. */
  readonly request: SipRequest;
  /** Reason why a challenge could not be answered; undefined without one. */
  readonly refusal: ChallengeRefusal | undefined;
}

/** A SIP user agent (RFC 3261 section 6): places calls, sends requests outside of calls, and responds to requests. */
export interface UserAgent {
  /** Starts a call. The listener is notified of its progress, never before this method has returned. */
  invite(request: InviteRequest): InviteUsage;
  /**
   * Sends a request outside of any call; answers challenges.
   * @throws {TransportError} no final response arrived; or the signal's reason if it was aborted
   */
  request(request: AgentRequest, signal?: AbortSignal): Promise<AgentReply>;
  /** A new series of requests. */
  series(): RequestSeries;
  /** Number of calls that have not ended. */
  readonly calls: number;
  /** Ends every call, and places no more; the transactions stay open. Idempotent. */
  close(): Promise<void>;
}
