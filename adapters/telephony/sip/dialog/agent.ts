import type { Logger } from "../../../../src/ports/logger.ts";
import type { System } from "../../../../src/ports/system.ts";
import type { DigestClient } from "../auth/digest.ts";
import type { SipMessage, SipRequest, SipResponse } from "../message/message.ts";
import type { SipUri } from "../message/uri.ts";
import type { Transactions } from "../transaction/transactions.ts";
import type { Flow } from "../transport/transport.ts";
import type { InviteRequest, InviteUsage } from "./invite.ts";

/** The caller that an INVITE names: header values. */
export interface Caller {
  /** From, without its tag: `"Ringport" <sip:100@example.com>`. */
  readonly from: string;
  /** P-Asserted-Identity, Privacy and the like. */
  readonly headers: readonly HeaderField[];
}

/** Who we say we are: a trunk's options as header values. */
export interface Identity {
  /** From of requests outside of calls, without its tag. */
  readonly from: string;
  /**
   * The URI of our Contact where a message goes out on this flow; `sentBy` is what we call ourselves there,
   * `host[:port]`.
   */
  contact(sentBy: string, flow: Flow): string;
  /** Fields of every INVITE besides those that name the caller. */
  readonly headers: readonly HeaderField[];
  /** User-Agent of our requests and Server of our responses. */
  readonly product: string;
}

/** Whether a redirection to this place is followed. */
export type MayFollow = (place: SipUri) => boolean;

/** Name and value. */
export type HeaderField = readonly [name: string, value: string];

/** What a user agent stands on. */
export interface UserAgentOptions {
  readonly transactions: Transactions;
  readonly identity: Identity;
  /** Answers challenges, and those that are known before they are made. */
  readonly digest: DigestClient;
  /** Whether our credentials are for whoever is at this URI, or at the other end of this flow. */
  trusts(place: string | Flow): boolean;
  /**
   * Where a request outside of a dialog goes first, given its Request-URI: the outbound proxy, the trunk's server, or
   * the URI itself.
   */
  nextHop(uri: string): string;
  /** Route values of requests outside of a dialog: `<sip:proxy.example.com;lr>`. Default: none. */
  readonly routes?: readonly string[] | undefined;
  /** Offers session timers (RFC 4028), and keeps to them where the far side asks for them. Default: true. */
  readonly sessionTimers?: boolean | undefined;
  /** Takes part in reliable provisional responses (RFC 3262). Default: true. */
  readonly reliableProvisionals?: boolean | undefined;
  /** Follows 301 and 302, at most five times, to the places that `mayFollow` of the call lets pass. Default: false. */
  readonly followRedirects?: boolean | undefined;
  /** A callee who holds us for longer is hung up, ms. Default: 60,000. */
  readonly holdTimeoutMs?: number | undefined;
  readonly system: System;
  readonly logger: Logger;
  /** Sees every message of a call as the dialog layer does (what the transaction layer repeats is not told again). */
  readonly trace?: ((callId: string, direction: "sent" | "received", message: SipMessage) => void) | undefined;
}

/** Requests that share Call-ID and From tag and count their CSeq: a REGISTER and its refreshes. */
export interface RequestSeries {
  readonly callId: string;
  readonly fromTag: string;
  /** Of the last one that was sent. */
  cseq: number;
}

/** A request outside of any call. */
export interface AgentRequest {
  /** `REGISTER`, `OPTIONS`. */
  readonly method: string;
  /** Request-URI. */
  readonly uri: string;
  /** Default: the Request-URI in brackets, without its port. */
  readonly to?: string | undefined;
  /** Without a tag. Default: the identity's. */
  readonly from?: string | undefined;
  /** Contact is set by itself unless given here. */
  readonly headers?: readonly HeaderField[] | undefined;
  /** Default: one of its own. */
  readonly series?: RequestSeries | undefined;
  /** The flow to keep to: of a registration, for one. Default: what the next hop of the Request-URI resolves to. */
  readonly flow?: Flow | undefined;
}

/** What came back, and on which way. */
export interface AgentReply {
  /** 200 to 699; a 401 or 407 only where it could not be answered. */
  readonly response: SipResponse;
  readonly flow: Flow;
  /** As it was sent last. */
  readonly request: SipRequest;
  /** Why a challenge could not be answered, as a sentence; undefined where there was none. */
  readonly refusal: string | undefined;
}

/** A trunk's voice in SIP: places calls, sends requests outside of calls, and answers what comes from outside. */
export interface UserAgent {
  /** Starts a call; what becomes of it is told to the listener, never before this has returned. */
  invite(request: InviteRequest): InviteUsage;
  /**
   * Sends a request outside of any call, with authentication where it is asked for.
   * @throws {TransportError} no final response came; the signal's reason where that was aborted
   */
  request(request: AgentRequest, signal?: AbortSignal): Promise<AgentReply>;
  /** A new series of requests. */
  series(): RequestSeries;
  /** How many calls have not ended. */
  readonly calls: number;
  /** Ends every call, and takes no more of them; the transactions stay open. Twice is fine. */
  close(): Promise<void>;
}
