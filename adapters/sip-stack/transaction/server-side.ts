import { randomText } from "../message/grammar.ts";
import { parseVia } from "../message/header-values.ts";
import { tagOf, withTag } from "../message/name-addr.ts";
import { responseTo, type SipRequest, type SipResponse } from "../message/sip-message.ts";
import type { System } from "../ports.ts";
import { defaultPort, type Flow, type Hop, type Transports } from "../transport/transport.ts";
import { ackKey, serverKey } from "./branch.ts";
import { ServerTransaction } from "./server-transaction.ts";
import type { SipTimers } from "./transaction-machine.ts";
import type { IncomingRequest, TransactionListener } from "./transactions.ts";

/**
 * Maximum number of concurrent server transactions; beyond it, requests are refused, unless a completed one can be
 * dropped.
 */
const MAX_TRANSACTIONS = 4_000;
/** Number of additional server transactions for requests within our calls. */
const ROOM_FOR_CALLS = 1_000;
const TAG_BYTES = 8;

/** Options of {@link ServerSide}. */
export interface ServerSideOptions {
  readonly system: System;
  readonly timers: SipTimers;
  readonly reply: (response: SipResponse, flow: Flow) => void;
  readonly listener: () => TransactionListener;
}

/** A trunk's server transactions (RFC 3261 section 17.2): requests from peers. */
export class ServerSide {
  readonly #options: ServerSideOptions;
  readonly #transactions = new Map<string, ServerTransaction>();
  /** INVITEs whose 2xx has no ACK yet. */
  readonly #acceptedInvites = new Map<string, ServerTransaction>();

  constructor(options: ServerSideOptions) {
    this.#options = options;
  }

  request(request: SipRequest, flow: Flow): void {
    const key = serverKey(request, request.method);
    const existing = this.#transactions.get(key);
    if (request.method === "ACK") this.#acknowledge(request, flow);
    else if (existing !== undefined) existing.onRetransmission();
    else if (!this.#refuseStateless(request, flow)) this.#admit(key, request, flow);
  }

  /** True if the request was refused without a transaction. */
  #refuseStateless(request: SipRequest, flow: Flow): boolean {
    const refusal = this.#options.listener().stateless?.(request);
    if (refusal !== undefined) this.#options.reply(refusal, flow);
    return refusal !== undefined;
  }

  #admit(key: string, request: SipRequest, flow: Flow): void {
    const isOurs = this.#options.listener().isOurs?.(request) === true;
    const limit = isOurs ? MAX_TRANSACTIONS + ROOM_FOR_CALLS : MAX_TRANSACTIONS;
    if (this.#transactions.size >= limit && !this.#makeRoom())
      this.#options.reply(this.#response(request, 503, "Too Many Requests Are Under Way"), flow);
    else if (request.method === "CANCEL") this.#cancel(this.#open(key, request, flow));
    else this.#options.listener().request(this.#open(key, request, flow));
  }

  close(): void {
    for (const transaction of this.#transactions.values()) transaction.stop();
    this.#transactions.clear();
    this.#acceptedInvites.clear();
  }

  /** Drops the oldest completed transaction: it would only repeat its response. */
  #makeRoom(): boolean {
    for (const [key, transaction] of this.#transactions)
      if (transaction.hasFinalResponse && transaction.request.method !== "INVITE") {
        transaction.stop();
        return this.#transactions.delete(key);
      }
    return false;
  }

  #open(key: string, request: SipRequest, flow: Flow): ServerTransaction {
    const { system, timers, reply } = this.#options;
    let acceptedKey: string | undefined;
    const transaction = new ServerTransaction({
      request,
      flow,
      system,
      timers,
      reply,
      invite: (accepted, response) => {
        acceptedKey = ackKey(request, tagOf(response.headers.get("To")));
        this.#acceptedInvites.set(acceptedKey, accepted);
      },
      acknowledged: (ack, ackFlow) => this.#options.listener().request(acknowledgement(ack, ackFlow)),
      unacknowledged: (invite) => this.#options.listener().ackMissing?.(invite),
      terminated: () => {
        this.#transactions.delete(key);
        if (acceptedKey !== undefined) this.#acceptedInvites.delete(acceptedKey);
      },
    });
    this.#transactions.set(key, transaction);
    return transaction;
  }

  /** Passes an ACK on: for a refusal it has its INVITE's branch; for a 2xx it is matched by its dialog. */
  #acknowledge(ack: SipRequest, flow: Flow): void {
    const transaction =
      this.#transactions.get(serverKey(ack, "INVITE")) ??
      this.#acceptedInvites.get(ackKey(ack, tagOf(ack.headers.get("To"))));
    transaction?.acknowledged(ack, flow);
  }

  /** Responds to a CANCEL, and to its INVITE unless that already has a final response (RFC 3261 section 9.2). */
  #cancel(cancel: IncomingRequest): void {
    const invite = this.#transactions.get(serverKey(cancel.request, "INVITE"));
    const response =
      invite === undefined
        ? this.#response(cancel.request, 481, "Call/Transaction Does Not Exist")
        : this.#response(cancel.request, 200, "OK");
    cancel.respond(response);
    invite?.respond(this.#response(invite.request, 487, "Request Terminated", tagOf(response.headers.get("To"))));
  }

  /** A response with our To tag. */
  #response(request: SipRequest, status: number, reason: string, tag?: string): SipResponse {
    const response = responseTo(request, status, reason);
    const to = response.headers.get("To") ?? "";
    if (tagOf(to) === undefined)
      response.headers.set("To", withTag(to, tag ?? randomText(this.#options.system, TAG_BYTES)));
    return response;
  }
}

/** The ACK for our 2xx, as a request that gets no response. */
function acknowledgement(request: SipRequest, flow: Flow): IncomingRequest {
  return { request, flow, hasFinalResponse: true, respond() {} };
}

/**
 * Sends a response to the source of its request; if that connection is closed, on a new one to the address in the
 * request's Via (RFC 3261 section 18.2.2). A response that cannot be sent is dropped: the peer retransmits its request.
 */
export async function reply(
  transports: Transports,
  response: SipResponse,
  flow: Flow,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (flow.isAlive) {
      flow.send(response);
      return;
    }
    const hop = returnHop(response, flow);
    if (hop !== undefined) (await transports.connect(hop, signal)).send(response);
  } catch {
    // dropped
  }
}

function returnHop(response: SipResponse, { kind, remote }: Flow): Hop | undefined {
  const via = parseVia(response.headers.list("Via")[0] ?? "");
  if (via === undefined || kind === "udp") return undefined;
  return { kind, host: via.host, address: remote.address, port: via.port ?? defaultPort(kind) };
}
