import type { ChallengeRefusal } from "../auth/challenge.ts";
import type { SipResponse } from "../message/message.ts";
import { type SipUri, writeUri } from "../message/uri.ts";
import type { Flow, TransportError } from "../transport/transport.ts";
import type { Extension, HeaderField, MayFollow } from "./agent.ts";
import type { AgentContext } from "./agent-context.ts";
import type { InviteRequest, Negotiator } from "./invite.ts";
import {
  alternative,
  contactsOf,
  firstAttempt,
  type InviteAttempt,
  type InviteIds,
  inviteMessage,
  isRedirection,
  type NextAttempt,
  nextAttempt,
} from "./invite-attempt.ts";
import { UacRequest } from "./uac-request.ts";

/** Receives what becomes of the attempts. */
export interface InviteAttemptsListener {
  /** An INVITE is on its way. */
  sent(flow: Flow): void;
  provisional(response: SipResponse, flow: Flow): void;
  /** The last INVITE was refused, and another one follows: its early dialogs are void. */
  again(): void;
  answered(response: SipResponse, flow: Flow): void;
  /** A final refusal; with the reason why a challenge could not be answered. */
  refused(response: SipResponse, refusal: ChallengeRefusal | undefined): void;
  failed(fault: TransportError): void;
}

/** The INVITEs of one call, one after the other, until one is answered or finally refused. */
export class InviteAttempts {
  readonly #context: AgentContext;
  readonly #ids: InviteIds;
  readonly #traced: string;
  readonly #negotiator: Negotiator;
  readonly #maySend: InviteRequest["maySend"];
  readonly #mayFollow: InviteRequest["mayFollow"];
  readonly #listener: InviteAttemptsListener;
  #attempt: InviteAttempt;
  #uacRequest: UacRequest | undefined;
  #cancelled = false;
  #stopWaiting: () => void = () => {};
  #cseq = 0;
  #unanswered = false;

  /** @param traced the core's id of the call, for the trace */
  constructor(
    context: AgentContext,
    ids: InviteIds,
    {
      negotiator,
      callId: traced,
      maySend,
      mayFollow,
    }: Omit<InviteRequest, "target" | "caller" | "headers" | "listener">,
    listener: InviteAttemptsListener,
  ) {
    this.#context = context;
    this.#ids = ids;
    this.#traced = traced;
    this.#negotiator = negotiator;
    this.#maySend = maySend;
    this.#mayFollow = mayFollow;
    this.#listener = listener;
    const { sessionTimers = true, reliableProvisionals = true } = context.options;
    const extensions: Extension[] = [];
    if (sessionTimers) extensions.push("timer");
    if (reliableProvisionals) extensions.push("100rel");
    this.#attempt = firstAttempt(ids.target, extensions);
  }

  /** The Request-URI of the last INVITE. */
  get uri(): string {
    return this.#attempt.uri;
  }

  /** Whether the last INVITE went to the URI of a redirection. */
  get redirected(): boolean {
    return this.#attempt.redirects > 0;
  }

  /** Whether any INVITE may have arrived at a hop that has given no final response. */
  get unanswered(): boolean {
    return this.#unanswered || this.#uacRequest?.unanswered === true;
  }

  /** The credentials of the last INVITE. */
  get authorization(): readonly HeaderField[] {
    return this.#uacRequest?.authorization ?? [];
  }

  /** Sends the next INVITE. */
  send(): void {
    const { options } = this.#context;
    const attempt = this.#attempt;
    this.#uacRequest = new UacRequest(
      this.#context,
      () => ({
        request: inviteMessage(options, this.#ids, attempt, ++this.#cseq, this.#negotiator.offer()),
        to: options.nextHop(attempt.uri),
        contact: true,
      }),
      {
        maySend: this.#maySend,
        sent: (_request, flow) => this.#listener.sent(flow),
        provisional: (response, flow) => this.#listener.provisional(response, flow),
        final: (response, flow) => {
          if (response.status < 300) this.#listener.answered(response, flow);
          else this.#refused(response);
        },
        failed: (fault) => this.#failed(fault),
      },
      this.#traced,
    );
  }

  /** Cancels the INVITE under way and sends no more. False: none is under way, and nothing will be reported. */
  cancel(reason?: string): boolean {
    this.#cancelled = true;
    this.#stopWaiting();
    this.#uacRequest?.cancel(reason);
    return this.#uacRequest !== undefined;
  }

  #refused(response: SipResponse): void {
    const { followRedirects = false } = this.#context.options;
    const mayFollow = this.#mayFollow;
    if (followRedirects && mayFollow && isRedirection(response) && !this.#cancelled)
      void this.#redirected(response, mayFollow);
    else this.#goOn(response, followRedirects);
  }

  /** Asks where the call may be led, while it can be cancelled. */
  async #redirected(response: SipResponse, mayFollow: MayFollow): Promise<void> {
    const allowed = new Set<string>();
    const ask = async (place: SipUri): Promise<void> => {
      if (await mayFollow(place).catch(() => false)) allowed.add(writeUri(place));
    };
    await Promise.all(contactsOf(response).map(ask));
    this.#goOn(response, (place) => allowed.has(writeUri(place)));
  }

  #goOn(response: SipResponse, followRedirects: boolean | ((place: SipUri) => boolean)): void {
    const next = this.#cancelled ? undefined : nextAttempt(this.#attempt, response, followRedirects);
    if (next === undefined) this.#listener.refused(response, this.#uacRequest?.refusal);
    else this.#again(next);
  }

  #failed(fault: TransportError): void {
    const next = this.#cancelled ? undefined : alternative(this.#attempt);
    if (next === undefined) this.#listener.failed(fault);
    else this.#again(next);
  }

  #again({ attempt, wait }: NextAttempt): void {
    this.#attempt = attempt;
    this.#unanswered = this.unanswered;
    this.#uacRequest = undefined;
    this.#listener.again();
    if (wait) this.#stopWaiting = this.#context.options.system.after(this.#context.glareDelayMs(), () => this.send());
    else this.send();
  }
}
