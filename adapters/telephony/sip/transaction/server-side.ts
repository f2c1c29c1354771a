import type { System } from "../../../../src/ports/system.ts";
import { responseTo, type SipRequest, type SipResponse } from "../message/message.ts";
import { tagOf, withTag } from "../message/name-addr.ts";
import { randomText } from "../message/random-text.ts";
import type { Flow } from "../transport/transport.ts";
import { ackKey, serverKey } from "./keys.ts";
import { ServerTransaction } from "./server-transaction.ts";
import type { SipTimers } from "./timers.ts";
import type { IncomingRequest, TransactionListener } from "./transactions.ts";

/** More requests than this at a time are refused, unless there are answered ones to be forgotten. */
const MOST_EXCHANGES = 4_000;
/** So many more of them may belong to our own calls. */
const ROOM_FOR_CALLS = 1_000;
const TAG_BYTES = 8;

/** What the server side needs. */
export interface ServerSideOptions {
  readonly system: System;
  readonly timers: SipTimers;
  readonly reply: (response: SipResponse, flow: Flow) => void;
  readonly listener: () => TransactionListener;
}

/** The far side's requests. */
export class ServerSide {
  readonly #options: ServerSideOptions;
  readonly #transactions = new Map<string, ServerTransaction>();
  /** The INVITEs that wait for the ACK of their 2xx. */
  readonly #accepted = new Map<string, ServerTransaction>();

  constructor(options: ServerSideOptions) {
    this.#options = options;
  }

  request(request: SipRequest, flow: Flow): void {
    const key = serverKey(request, request.method);
    const known = this.#transactions.get(key);
    if (request.method === "ACK") this.#acknowledge(request, flow);
    else if (known !== undefined) known.repeated();
    else if (!this.#refused(request, flow)) this.#admit(key, request, flow);
  }

  /** Whether it is one that has its answer without a transaction. */
  #refused(request: SipRequest, flow: Flow): boolean {
    const refusal = this.#options.listener().stateless?.(request);
    if (refusal !== undefined) this.#options.reply(refusal, flow);
    return refusal !== undefined;
  }

  #admit(key: string, request: SipRequest, flow: Flow): void {
    const most = this.#options.listener().ours?.(request) === true ? MOST_EXCHANGES + ROOM_FOR_CALLS : MOST_EXCHANGES;
    if (this.#transactions.size >= most && !this.#makeRoom())
      this.#options.reply(this.#answer(request, 503, "Too Many Requests Are Under Way"), flow);
    else if (request.method === "CANCEL") this.#cancel(this.#open(key, request, flow));
    else this.#options.listener().request(this.#open(key, request, flow));
  }

  close(): void {
    for (const transaction of this.#transactions.values()) transaction.stop();
    this.#transactions.clear();
    this.#accepted.clear();
  }

  /** Forgets the oldest request that has its answer: all it would still do is give it once more. */
  #makeRoom(): boolean {
    for (const [key, transaction] of this.#transactions)
      if (transaction.done && transaction.request.method !== "INVITE") {
        transaction.stop();
        return this.#transactions.delete(key);
      }
    return false;
  }

  #open(key: string, request: SipRequest, flow: Flow): ServerTransaction {
    const { system, timers, reply } = this.#options;
    let acceptedAs: string | undefined;
    const transaction = new ServerTransaction({
      request,
      flow,
      system,
      timers,
      reply,
      accepted: (accepted, response) => {
        acceptedAs = ackKey(request, tagOf(response.headers.get("To")));
        this.#accepted.set(acceptedAs, accepted);
      },
      acknowledged: (ack, way) => this.#options.listener().request(acknowledgement(ack, way)),
      unacknowledged: (silent) => this.#options.listener().unacknowledged?.(silent),
      terminated: () => {
        this.#transactions.delete(key);
        if (acceptedAs !== undefined) this.#accepted.delete(acceptedAs);
      },
    });
    this.#transactions.set(key, transaction);
    return transaction;
  }

  /** An ACK has the branch of an INVITE that was refused; that of a 2xx is known by its dialog. */
  #acknowledge(ack: SipRequest, flow: Flow): void {
    const transaction =
      this.#transactions.get(serverKey(ack, "INVITE")) ?? this.#accepted.get(ackKey(ack, tagOf(ack.headers.get("To"))));
    transaction?.acknowledged(ack, flow);
  }

  /** RFC 3261 section 9.2: the CANCEL is answered in any case, the INVITE only while it has no final response. */
  #cancel(cancel: IncomingRequest): void {
    const invite = this.#transactions.get(serverKey(cancel.request, "INVITE"));
    const answer =
      invite === undefined
        ? this.#answer(cancel.request, 481, "Call/Transaction Does Not Exist")
        : this.#answer(cancel.request, 200, "OK");
    cancel.respond(answer);
    invite?.respond(this.#answer(invite.request, 487, "Request Terminated", tagOf(answer.headers.get("To"))));
  }

  /** A response with a tag of ours. */
  #answer(request: SipRequest, status: number, reason: string, tag?: string): SipResponse {
    const response = responseTo(request, status, reason);
    const to = response.headers.get("To") ?? "";
    if (tagOf(to) === undefined)
      response.headers.set("To", withTag(to, tag ?? randomText(this.#options.system, TAG_BYTES)));
    return response;
  }
}

/** The ACK of our 2xx: to be seen, not to be answered. */
function acknowledgement(request: SipRequest, flow: Flow): IncomingRequest {
  return { request, flow, done: true, respond() {} };
}
