import type { ChallengeRefusal } from "../auth/challenge.ts";
import type { DigestAuthentication } from "../auth/digest-authentication.ts";
import { tagOf } from "../message/name-addr.ts";
import type { SipRequest, SipResponse } from "../message/sip-message.ts";
import type { ClientTransactionListener, OutgoingRequest } from "../transaction/transactions.ts";
import { addressAndPort, type Flow, type TransportError } from "../transport/transport.ts";
import type { AgentContext } from "./user-agent-context.ts";
import type { HeaderField } from "./user-agent-options.ts";

/** A request to be sent, with a new CSeq. */
export interface Draft {
  readonly request: SipRequest;
  readonly to: string | Flow;
  /** The URI for a second attempt if the flow is closed. */
  readonly fallback?: string;
  /** True if it carries our Contact. */
  readonly contact?: boolean;
}

/** Receives the progress of the request; no callback follows `final` or `failed`. */
export interface UacRequestListener {
  readonly maySend?: ClientTransactionListener["maySend"];
  sent?(request: SipRequest, flow: Flow): void;
  provisional?(response: SipResponse, flow: Flow): void;
  /** A 401 or 407 only if the challenge could not be answered. */
  final(response: SipResponse, flow: Flow): void;
  failed(fault: TransportError): void;
  /**
   * Called after a refusal or a fault, unless the request was cancelled. Returns the pause before another request is
   * composed, ms; undefined if none follows, and then `final` or `failed` is called. Default: none.
   */
  retry?(result: SipResponse | TransportError): number | undefined | Promise<number | undefined>;
  /** Called when another request follows, which starts without this one's state. */
  restarting?(): void;
  /** Called when the request is abandoned; neither `final` nor `failed` is called. */
  abandoned?(): void;
}

/**
 * A request of a UAC (RFC 3261 section 8.1) up to its final response: sent again if a server challenges it (section
 * 22.2), if its connection was closed, or if its listener asks for another request.
 */
export class UacRequest {
  readonly #context: AgentContext;
  readonly #compose: () => Draft;
  readonly #listener: UacRequestListener;
  readonly #callId: string | undefined;
  #digest: DigestAuthentication;
  #request: SipRequest | undefined;
  #transaction: OutgoingRequest | undefined;
  #attemptCount = 0;
  #isCancelled = false;
  #isFlowLost = false;
  #refusal: ChallengeRefusal | undefined;
  #isUnanswered = false;
  #cancelRetry: () => void = () => {};

  /**
   * @param compose called for every attempt
   * @param callId the core's call id, for the trace
   */
  constructor(context: AgentContext, compose: () => Draft, listener: UacRequestListener, callId?: string) {
    this.#context = context;
    this.#compose = compose;
    this.#listener = listener;
    this.#callId = callId;
    this.#digest = context.options.digest.authentication();
  }

  /** The credentials of the last attempt; the ACK for its 2xx repeats them (RFC 3261 section 22.1). */
  get authorization(): readonly HeaderField[] {
    return [...(this.#request?.headers ?? [])].filter(([name]) => /^(?:proxy-)?authorization$/i.test(name));
  }

  /** Reason why the challenge in the final response could not be answered. */
  get refusal(): ChallengeRefusal | undefined {
    return this.#refusal;
  }

  /** True if a copy of any attempt may have arrived at a hop that has sent no final response. */
  get isUnanswered(): boolean {
    return this.#isUnanswered || this.#transaction?.isUnanswered === true;
  }

  /**
   * Cancels an INVITE and makes no further attempt; its final response is still reported. False if none is pending;
   * then no report follows.
   */
  cancel(reason?: string): boolean {
    this.#isCancelled = true;
    this.#cancelRetry();
    this.#transaction?.cancel(reason);
    return this.#transaction !== undefined;
  }

  /** Ignores all later responses. */
  abandon(): void {
    this.#isCancelled = true;
    this.#transaction?.abandon();
    this.#listener.abandoned?.();
  }

  /** Sends the request, for the first time or again. */
  send(): void {
    const { request, to, fallback, contact } = this.#compose();
    this.#digest.authorize(request);
    this.#request = request;
    const usesFallback = this.#isFlowLost && fallback !== undefined;
    const attempt = ++this.#attemptCount;
    const transaction = this.#context.transactions.request(request, usesFallback ? fallback : to, {
      maySend: this.#listener.maySend,
      prepare: (copy, flow, sentBy) => {
        this.#context.withholdCredentials(copy, flow);
        if (contact === true && !copy.headers.has("Contact"))
          copy.headers.add("Contact", this.#context.contact(flow, sentBy));
      },
      sentRequest: (copy, flow) => {
        this.#request = copy;
        this.#context.trace(this.#callId, "sent", copy);
        this.#listener.sent?.(copy, flow);
      },
      provisional: (response, flow) => {
        this.#context.trace(this.#callId, "received", response);
        if (response.status > 100) this.#recordAcceptance(flow);
        this.#listener.provisional?.(response, flow);
      },
      final: (response, flow) => {
        this.#context.trace(this.#callId, "received", response);
        if (this.#answersChallenge(response, flow)) this.send();
        else if (response.status < 300) this.#listener.final(response, flow);
        else this.#end(response, () => this.#listener.final(response, flow));
      },
      failed: (fault) => {
        if (this.#isCancelled || usesFallback || fallback === undefined || fault.fault !== "closed") {
          this.#end(fault, () => this.#listener.failed(fault));
          return;
        }
        this.#isFlowLost = true;
        this.send();
      },
    });
    if (attempt !== this.#attemptCount) return;
    if (this.#transaction?.isUnanswered === true) this.#isUnanswered = true;
    this.#transaction = transaction;
  }

  /** @param report calls the listener if no other request follows */
  #end(result: SipResponse | TransportError, report: () => void): void {
    const pauseMs = this.#isCancelled ? undefined : this.#listener.retry?.(result);
    if (pauseMs instanceof Promise)
      void pauseMs.then((ms) => (this.#isCancelled || ms === undefined ? report() : this.#restart(ms)));
    else if (pauseMs === undefined) report();
    else this.#restart(pauseMs);
  }

  #restart(pauseMs: number): void {
    this.#isUnanswered = this.isUnanswered;
    this.#transaction = undefined;
    this.#request = undefined;
    this.#isFlowLost = false;
    this.#refusal = undefined;
    const { digest, system } = this.#context.options;
    this.#digest = digest.authentication();
    this.#listener.restarting?.();
    if (pauseMs === 0) this.send();
    else this.#cancelRetry = system.after(pauseMs, () => this.send());
  }

  /** True if the request is sent again with credentials; never twice for the same nonce. */
  #answersChallenge(response: SipResponse, flow: Flow): boolean {
    const { status } = response;
    if (status < 300) this.#recordAcceptance(flow);
    if (this.#isCancelled || (status !== 401 && status !== 407)) return false;
    const { digest, trusts } = this.#context.options;
    const trustsNewRealms = !this.#isInvite || !digest.knownRealms.hasAccepted(addressAndPort(flow.remote));
    this.#refusal =
      trusts(flow) || digest.account.password === undefined
        ? this.#digest.handleChallenge(response, trustsNewRealms && !this.#isInDialog)
        : {
            code: "other_server",
            detail: `the password is for the trunk's servers, not for ${flow.remote.address} port ${flow.remote.port}, which asks for it`,
          };
    return this.#refusal === undefined;
  }

  /**
   * Records a server that has accepted our INVITE: it has named its realms, and later challenges may come from other
   * servers.
   */
  #recordAcceptance(flow: Flow): void {
    if (this.#isInvite && !this.#isInDialog)
      this.#context.options.digest.knownRealms.recordAcceptance(addressAndPort(flow.remote));
  }

  get #isInvite(): boolean {
    return this.#request?.method === "INVITE";
  }

  get #isInDialog(): boolean {
    return tagOf(this.#request?.headers.get("To")) !== undefined;
  }
}
