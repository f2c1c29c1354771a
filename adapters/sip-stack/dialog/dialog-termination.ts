import type { ChallengeRefusal } from "../auth/challenge.ts";
import { parseRetryAfter } from "../message/header-values.ts";
import type { SipResponse } from "../message/sip-message.ts";
import type { Flow, TransportError } from "../transport/transport.ts";
import { type Draft, UacRequest } from "./uac-request.ts";
import type { AgentContext } from "./user-agent-context.ts";

/** Pauses before a BYE that failed is sent again, ms; after the last one the BYE is abandoned. */
const RETRY_PAUSES_MS: readonly number[] = [1_000, 4_000, 16_000];
/** Maximum Retry-After that is respected, ms: the call is billed until the BYE is accepted. */
const MAX_RETRY_AFTER_MS = 32_000;
/** Refusals that are temporary: glare, and a server failure. */
const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([491, 500, 502, 503, 504]);
/** Error responses that end the dialog nevertheless (RFC 3261 section 15.1.1). */
const DIALOG_ENDED_STATUSES: ReadonlySet<number> = new Set([408, 481]);

const CHALLENGE_STATUSES: ReadonlySet<number> = new Set([401, 407]);

/** A BYE to be sent. */
export interface Bye {
  /**
   * Composes the request. @param useInviteHop true if the dialog's route set has failed, so that the next hop of the
   * INVITE is used
   */
  compose(useInviteHop: boolean): Draft;
  /** The flow over which the BYE is sent; held until the BYE is accepted or abandoned. */
  readonly flow: Flow;
  /** The core's call id, for the trace. */
  readonly callId: string | undefined;
  /** Called after the first response, or when none can arrive. */
  onResponse(): void;
}

/** Terminates a dialog with BYE (RFC 3261 section 15), and repeats it if it fails; the call itself may end earlier. */
export class DialogTermination {
  readonly #context: AgentContext;
  readonly #bye: Bye;
  readonly #releaseFlow: () => void;
  #retryCount = 0;
  #usesInviteHop = false;
  #cancelRetry = (): void => {};

  constructor(context: AgentContext, bye: Bye) {
    this.#context = context;
    this.#bye = bye;
    this.#releaseFlow = bye.flow.hold();
    context.terminations.add(this);
    this.#send();
  }

  /** Stops the termination: a pending BYE is not sent, and nothing is reported. */
  stop(): void {
    this.#cancelRetry();
    this.#releaseFlow();
    this.#context.terminations.delete(this);
  }

  #send(): void {
    const { compose, callId, onResponse } = this.#bye;
    const uacRequest: UacRequest = new UacRequest(
      this.#context,
      () => compose(this.#usesInviteHop),
      {
        final: (response) => {
          onResponse();
          this.#onResponse(response, uacRequest.refusal);
        },
        failed: (fault) => {
          onResponse();
          this.#onFailure(fault);
        },
      },
      callId,
    );
    uacRequest.send();
  }

  #onResponse({ status, headers }: SipResponse, refusal: ChallengeRefusal | undefined): void {
    if (TEMPORARY_STATUSES.has(status))
      this.#retryLater(`SIP ${status}`, (parseRetryAfter(headers.get("Retry-After")) ?? 0) * 1_000);
    else if (status < 300 || DIALOG_ENDED_STATUSES.has(status)) this.stop();
    else if (CHALLENGE_STATUSES.has(status) && !this.#usesInviteHop) {
      // Our password is not for this server. The trunk's own server knows the call, and may challenge us.
      this.#usesInviteHop = true;
      this.#send();
    } else this.#giveUp(`SIP ${status}${refusal === undefined ? "" : `: ${refusal.detail}`}`);
  }

  /**
   * Handles a failed BYE. A BYE without a response has already been retransmitted for 32 s; any other fault may be
   * temporary, or due to the route.
   */
  #onFailure({ fault, message }: TransportError): void {
    this.#usesInviteHop = true;
    if (fault === "timeout") this.#giveUp(message);
    else this.#retryLater(message, 0);
  }

  #retryLater(reason: string, retryAfterMs: number): void {
    const pauseMs = RETRY_PAUSES_MS[this.#retryCount++];
    if (pauseMs === undefined || this.#context.isClosed) {
      this.#giveUp(reason);
      return;
    }
    const { system } = this.#context.options;
    this.#cancelRetry = system.after(Math.max(pauseMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)), () => this.#send());
  }

  #giveUp(reason: string): void {
    this.#context.options.logger.warn(
      { callId: this.#bye.callId, reason },
      "sip: BYE failed, the peer's leg may still be up",
    );
    this.stop();
  }
}
