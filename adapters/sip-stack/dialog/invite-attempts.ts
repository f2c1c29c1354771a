import type { SipResponse } from "../message/sip-message.ts";
import { type SipUri, writeUri } from "../message/uri.ts";
import { TransportError } from "../transport/transport.ts";
import type { InviteRequest, Negotiator } from "./invite.ts";
import {
  contactsOf,
  firstAttempt,
  type InviteAttempt,
  type InviteIds,
  inviteMessage,
  isRedirection,
  type NextAttempt,
  nextAlternative,
  nextAttempt,
} from "./invite-attempt.ts";
import type { Draft } from "./uac-request.ts";
import type { AgentContext } from "./user-agent-context.ts";
import type { Extension, MayFollow } from "./user-agent-options.ts";

/** The INVITEs of one call: composes each of them, and decides whether another one follows a refusal. */
export class InviteAttempts {
  readonly #context: AgentContext;
  readonly #ids: InviteIds;
  readonly #negotiator: Negotiator;
  readonly #mayFollow: MayFollow | undefined;
  #attempt: InviteAttempt;
  /** The attempt to compose next. */
  #next: InviteAttempt;
  #cseq = 0;

  constructor(
    context: AgentContext,
    ids: InviteIds,
    { negotiator, mayFollow }: Pick<InviteRequest, "negotiator" | "mayFollow">,
  ) {
    this.#context = context;
    this.#ids = ids;
    this.#negotiator = negotiator;
    this.#mayFollow = mayFollow;
    const { sessionTimers = true, reliableProvisionals = true } = context.options;
    const extensions: Extension[] = [];
    if (sessionTimers) extensions.push("timer");
    if (reliableProvisionals) extensions.push("100rel");
    this.#attempt = firstAttempt(ids.target, extensions);
    this.#next = this.#attempt;
  }

  /** The Request-URI of the last INVITE. */
  get uri(): string {
    return this.#attempt.uri;
  }

  /** True if the last INVITE went to the URI of a redirection. */
  get isRedirected(): boolean {
    return this.#attempt.redirects > 0;
  }

  compose(): Draft {
    const { options } = this.#context;
    this.#attempt = this.#next;
    return {
      request: inviteMessage(options, this.#ids, this.#attempt, ++this.#cseq, this.#negotiator.offer()),
      to: options.nextHop(this.#attempt.uri),
      contact: true,
    };
  }

  /** The pause before the INVITE that follows a refusal or a fault, ms; undefined if none follows. */
  retry(result: SipResponse | TransportError): number | undefined | Promise<number | undefined> {
    if (result instanceof TransportError) return this.#pauseBefore(nextAlternative(this.#attempt));
    const { followRedirects = false } = this.#context.options;
    const mayFollow = this.#mayFollow;
    if (followRedirects && mayFollow && isRedirection(result)) return this.#followRedirect(result, mayFollow);
    return this.#pauseBefore(nextAttempt(this.#attempt, result, followRedirects));
  }

  /** Checks which contacts may be called; the call can be cancelled in the meantime. */
  async #followRedirect(response: SipResponse, mayFollow: MayFollow): Promise<number | undefined> {
    const allowed = new Set<string>();
    const check = async (place: SipUri): Promise<void> => {
      if (await mayFollow(place).catch(() => false)) allowed.add(writeUri(place));
    };
    await Promise.all(contactsOf(response).map(check));
    return this.#pauseBefore(nextAttempt(this.#attempt, response, (place) => allowed.has(writeUri(place))));
  }

  #pauseBefore(next: NextAttempt | undefined): number | undefined {
    if (next === undefined) return undefined;
    this.#next = next.attempt;
    return next.shouldWait ? this.#context.glareDelayMs() : 0;
  }
}
