import type { SipResponse } from "../message/message.ts";
import { parseRetryAfter } from "../message/reason-fields.ts";
import type { Flow, TransportError } from "../transport/transport.ts";
import type { AgentContext } from "./agent-context.ts";
import { type Draft, UacRequest } from "./uac-request.ts";

/** Pauses before a BYE that could not be taken is sent again, ms; then it is given up. */
const PAUSES_MS: readonly number[] = [1_000, 4_000, 16_000];
/** However long a server wants to be left alone: the far leg is up, and billed, meanwhile, ms. */
const LONGEST_PAUSE_MS = 32_000;
/** Refusals that pass by themselves: a glare, and a server that is out of order. */
const TEMPORARY: ReadonlySet<number> = new Set([491, 500, 502, 503, 504]);
/** Refusals after which there is no leg any more (RFC 3261 section 15.1.1). */
const GONE: ReadonlySet<number> = new Set([408, 481]);

const CHALLENGES: ReadonlySet<number> = new Set([401, 407]);

/** A BYE to be sent. */
export interface Bye {
  /** Makes the request. @param elsewhere the way that the dialog names leads nowhere: by that of the INVITE */
  compose(elsewhere: boolean): Draft;
  /** The way it takes, kept open until it has its last word. */
  readonly flow: Flow;
  /** The core's id of the call, for the trace. */
  readonly callId: string | undefined;
  /** The first response has come, or none will. */
  heard(): void;
}

/** Hangs up a far leg: sends BYE, again if it could not be taken. The call may be over here long before. */
export class DialogTermination {
  readonly #context: AgentContext;
  readonly #bye: Bye;
  readonly #letGo: () => void;
  #tries = 0;
  #elsewhere = false;
  #stopWaiting = (): void => {};

  constructor(context: AgentContext, bye: Bye) {
    this.#context = context;
    this.#bye = bye;
    this.#letGo = bye.flow.hold();
    context.terminations.add(this);
    this.#send();
  }

  /** Stops: a BYE that waits is not sent, and nobody is notified. */
  stop(): void {
    this.#stopWaiting();
    this.#letGo();
    this.#context.terminations.delete(this);
  }

  #send(): void {
    const { compose, callId, heard } = this.#bye;
    const uacRequest: UacRequest = new UacRequest(
      this.#context,
      () => compose(this.#elsewhere),
      {
        final: (response) => {
          heard();
          this.#answered(response, uacRequest.refusal);
        },
        failed: (fault) => {
          heard();
          this.#failed(fault);
        },
      },
      callId,
    );
  }

  #answered({ status, headers }: SipResponse, refusal: string | undefined): void {
    if (TEMPORARY.has(status)) this.#again(`SIP ${status}`, (parseRetryAfter(headers.get("Retry-After")) ?? 0) * 1_000);
    else if (status < 300 || GONE.has(status)) this.stop();
    else if (CHALLENGES.has(status) && !this.#elsewhere) {
      // A server that has no right to our password: the trunk's own knows the call, and may ask.
      this.#elsewhere = true;
      this.#send();
    } else this.#giveUp(`SIP ${status}${refusal === undefined ? "" : `: ${refusal}`}`);
  }

  /** A BYE without an answer has been repeated for 32 s; any other fault may pass, or be that of the way. */
  #failed({ fault, message }: TransportError): void {
    this.#elsewhere = true;
    if (fault === "timeout") this.#giveUp(message);
    else this.#again(message, 0);
  }

  #again(reason: string, wantedMs: number): void {
    const pauseMs = PAUSES_MS[this.#tries++];
    if (pauseMs === undefined || this.#context.closed) {
      this.#giveUp(reason);
      return;
    }
    const { system } = this.#context.options;
    this.#stopWaiting = system.after(Math.max(pauseMs, Math.min(wantedMs, LONGEST_PAUSE_MS)), () => this.#send());
  }

  #giveUp(reason: string): void {
    this.#context.options.logger.warn({ callId: this.#bye.callId, reason }, "sip: a far leg may still be up");
    this.stop();
  }
}
