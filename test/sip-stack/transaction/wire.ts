import { withTag } from "../../../adapters/sip-stack/message/name-addr.ts";
import {
  responseTo,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from "../../../adapters/sip-stack/message/sip-message.ts";
import { createTransactions } from "../../../adapters/sip-stack/transaction/transaction-layer.ts";
import type { SipTimers } from "../../../adapters/sip-stack/transaction/transaction-machine.ts";
import type { IncomingRequest, Transactions } from "../../../adapters/sip-stack/transaction/transactions.ts";
import {
  type Flow,
  type Hop,
  type SocketAddress,
  TransportError,
  type TransportListener,
  type Transports,
} from "../../../adapters/sip-stack/transport/transport.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

/** A sent message. */
export interface SentMessage {
  /** ms since the wire was created. */
  readonly atMs: number;
  readonly message: SipMessage;
  readonly flow: Flow;
}

class WireFlow implements Flow {
  readonly kind: Hop["kind"];
  readonly local: SocketAddress = { address: "192.0.2.1", port: 5060 };
  readonly remote: SocketAddress;
  readonly reliable: boolean;
  isAlive = true;
  readonly #send: (message: SipMessage, flow: Flow) => void;

  constructor({ kind, address, port }: Hop, send: (message: SipMessage, flow: Flow) => void) {
    this.kind = kind;
    this.remote = { address, port };
    this.reliable = kind !== "udp";
    this.#send = send;
  }

  send(message: SipMessage, maySend?: () => boolean): boolean {
    if (!this.isAlive) throw new TransportError("closed", "is closed");
    if (maySend?.() === false) return false;
    this.#send(message, this);
    return true;
  }

  hold(): () => void {
    return () => {};
  }
}

/** A simulated network with a manual clock, below the transaction layer. */
export class Wire implements Transports {
  readonly system: ManualSystem = new ManualSystem();
  readonly transactions: Transactions;
  readonly sentMessages: SentMessage[] = [];
  readonly learnedAddresses: SocketAddress[] = [];
  /** Trusted addresses, which also apply to other servers. */
  readonly trustedAddresses: SocketAddress[] = [];
  /** Requests from the peer. */
  readonly requests: IncomingRequest[] = [];
  readonly lateSuccesses: SipResponse[] = [];
  readonly missingAcks: IncomingRequest[] = [];
  /** Hops of `sip:there.example`. */
  hops: Hop[] = [udp("192.0.2.11")];
  /** Unreachable hops: `tcp 192.0.2.11`. */
  readonly unreachable = new Set<string>();
  /** Hops of all connection attempts. */
  readonly connectionAttempts: string[] = [];
  closeCount = 0;
  readonly #flows = new Map<string, WireFlow>();
  #listener: TransportListener | undefined;

  constructor(timers?: Partial<SipTimers>) {
    const resolve = async (): Promise<readonly Hop[]> => this.hops;
    this.transactions = createTransactions(this, resolve, { system: this.system, timers });
    this.transactions.listen({
      request: (transaction) => void this.requests.push(transaction),
      lateSuccess: (response) => void this.lateSuccesses.push(response),
      ackMissing: (transaction) => void this.missingAcks.push(transaction),
    });
  }

  async connect(hop: Hop): Promise<WireFlow> {
    const name = `${hop.kind} ${hop.address}`;
    this.connectionAttempts.push(name);
    if (this.unreachable.has(name)) throw new TransportError("refused", `${name} refused`);
    const openFlow = this.#flows.get(name);
    if (openFlow?.isAlive) return openFlow;
    const flow = new WireFlow(hop, (message, sentOn) =>
      this.sentMessages.push({ atMs: this.system.monotonic(), message, flow: sentOn }),
    );
    this.#flows.set(name, flow);
    return flow;
  }

  sentBy({ local }: Flow): string {
    return `${local.address}:${local.port}`;
  }

  learnAddress(_flow: Flow, address: SocketAddress, isTrusted = false): void {
    this.learnedAddresses.push(address);
    if (isTrusted) this.trustedAddresses.push(address);
  }

  listen(listener: TransportListener): void {
    this.#listener = listener;
  }

  async ready(): Promise<void> {}

  async close(): Promise<void> {
    this.closeCount++;
  }

  /** Delivers a message. */
  deliver(message: SipMessage, flow: Flow): void {
    this.#listener?.message(message, flow);
  }

  /** Reports an unreachable peer, or breaks a connection. */
  breakFlow(flow: Flow, fault: "refused" | "closed"): void {
    if (fault === "closed") (flow as WireFlow).isAlive = false;
    this.#listener?.closed(flow, new TransportError(fault, fault));
  }

  /** The n-th sent message, counted from the end if negative. */
  message(n: number): SentMessage {
    const sentMessage = this.sentMessages.at(n);
    if (sentMessage === undefined) throw new Error(`only ${this.sentMessages.length} messages were sent`);
    return sentMessage;
  }

  /** Lets the peer respond to a sent request, by default the last one of this method. */
  answer(
    status: number,
    { method = "INVITE", n = -1 }: { readonly method?: string; readonly n?: number } = {},
  ): SipResponse {
    const sentRequest = this.sentMessages
      .filter(({ message }) => message.kind === "request" && message.method === method)
      .at(n);
    if (sentRequest === undefined) throw new Error(`no ${method} was sent`);
    const response = responseTo(sentRequest.message as SipRequest, status, "");
    if (status > 100) response.headers.set("To", withTag(response.headers.get("To") ?? "", "them"));
    this.deliver(response, sentRequest.flow);
    return response;
  }

  /** `0 INVITE`, `500 INVITE`, `620 ACK`: the time and the method of each sent message, or its status. */
  get log(): string[] {
    return this.sentMessages.map(
      ({ atMs, message }) => `${atMs} ${message.kind === "request" ? message.method : message.status}`,
    );
  }
}

/** Hops to send to. */
export function udp(address: string): Hop {
  return { kind: "udp", address, port: 5060, host: "there.example" };
}

export function tcp(address: string): Hop {
  return { ...udp(address), kind: "tcp" };
}
