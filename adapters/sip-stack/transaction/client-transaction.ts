import type { SipRequest, SipResponse } from "../message/sip-message.ts";
import type { System } from "../ports.ts";
import { asTransportError, type Flow, type FlowWatch, TransportError } from "../transport/transport.ts";
import { ackOf } from "./branch.ts";
import {
  type ClientAction,
  type ClientInput,
  type ClientState,
  INVITE_CLIENT,
  NON_INVITE_CLIENT,
} from "./client-tables.ts";
import { giveUpMs, Machine, type SipTimers } from "./transaction-machine.ts";

/** Receives the responses of a client transaction. Callbacks must not throw. */
export interface TransactionOwner {
  readonly maySend?: (() => boolean) | undefined;
  provisional(response: SipResponse): void;
  final(response: SipResponse): void;
  failed(fault: TransportError): void;
  /** A 2xx after the final response, or after the timeout. */
  lateSuccess(response: SipResponse): void;
  /**
   * Sends CANCEL for this INVITE. @param onNewConnection true to use a new connection, since the transaction's connection is
   * closed
   */
  cancel(onNewConnection: boolean): void;
}

/** Timers of a client transaction. */
export interface TransactionTimeouts {
  /** Timers B and F, ms: 64 * T1, or less if there are other hops. */
  readonly giveUpMs: number;
  /** Time without data after which a connection seems dead, ms. Default: never. */
  readonly silenceMs?: number | undefined;
}

/** Options of {@link ClientTransaction}. */
export interface ClientTransactionOptions extends TransactionTimeouts {
  /** The request, with our Via as the topmost one. */
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly system: System;
  readonly timers: SipTimers;
  readonly owner: TransactionOwner;
  /** Called when the transaction is terminated. */
  readonly terminated: () => void;
}

/** A client transaction (RFC 3261 section 17.1): one request, sent on one flow. */
export class ClientTransaction extends Machine<ClientState, ClientInput, ClientAction> {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly #options: ClientTransactionOptions;
  /** Number of copies sent, and true if the network has reported the last one as undeliverable. */
  #copyCount = 0;
  #isReturned = false;
  #response: SipResponse | undefined;
  #fault: TransportError | undefined;
  /** Timers A and E: the pause before the next retransmission, ms. */
  #pauseMs: number;
  #isCancelled = false;
  #seemsDead = false;
  /** Watches for data on the connection since the request was sent. */
  #watch: FlowWatch | undefined;

  constructor(options: ClientTransactionOptions) {
    const isInvite = options.request.method === "INVITE";
    super(isInvite ? INVITE_CLIENT : NON_INVITE_CLIENT, isInvite ? "calling" : "trying", options.system);
    this.#options = options;
    this.request = options.request;
    this.flow = options.flow;
    this.#pauseMs = options.timers.t1Ms;
  }

  /** True if the peer cannot have received the request: no copy was sent, or the only one was undeliverable. */
  get isUndelivered(): boolean {
    return this.#copyCount === 0 || (this.#copyCount === 1 && this.#isReturned);
  }

  start(): void {
    this.#watch = this.flow.watch?.();
    this.input("start");
  }

  response(response: SipResponse): void {
    this.#response = response;
    this.input(response.status < 200 ? "1xx" : response.status < 300 ? "2xx" : "300-699");
    this.#response = undefined;
  }

  cancel(): void {
    this.input("cancel");
  }

  /** Handles an unreachable peer, or a closed connection. */
  onLost(fault: TransportError): void {
    this.#fault = fault;
    this.input(this.flow.isAlive ? "refused" : "connection lost");
  }

  protected override terminated(): void {
    const { giveUpMs, terminated } = this.#options;
    if (this.#seemsDead) this.#closeSilent(this.#silenceError(giveUpMs));
    terminated();
  }

  protected override perform(action: ClientAction): void {
    const { timers, owner } = this.#options;
    const { reliable } = this.flow;
    switch (action) {
      case "send":
        this.#send(this.request, owner.maySend);
        break;
      case "provisional":
        owner.provisional(this.#response as SipResponse);
        break;
      case "final":
        owner.final(this.#response as SipResponse);
        break;
      case "late 2xx":
        owner.lateSuccess(this.#response as SipResponse);
        break;
      case "report timeout":
        owner.failed(this.#timeoutError());
        break;
      case "seems dead":
        this.#seemsDead = true;
        owner.failed(deadFlowError(this.#silenceError(this.#options.silenceMs ?? 0), "seems dead"));
        break;
      case "judge silence":
        if (this.#watch?.isSilent === true) this.input("silent");
        break;
      case "lost":
        this.#isReturned = this.flow.isAlive;
        owner.failed(this.#fault as TransportError);
        break;
      case "ack":
        this.#send(ackOf(this.request, this.#response as SipResponse));
        break;
      case "send CANCEL":
        if (!this.#isCancelled) owner.cancel(false);
        this.#isCancelled = true;
        break;
      case "CANCEL on new connection":
        owner.cancel(true);
        break;
      case "set A":
      case "set E":
        if (!reliable) this.set(action === "set A" ? "timer A" : "timer E", this.#pauseMs);
        break;
      case "double A":
        this.#pauseMs *= 2;
        this.set("timer A", this.#pauseMs);
        break;
      case "double E":
        this.#pauseMs = Math.min(2 * this.#pauseMs, timers.t2Ms);
        this.set("timer E", this.#pauseMs);
        break;
      case "E at T2":
        this.set("timer E", timers.t2Ms);
        break;
      case "set B":
        this.set("timer B", this.#options.giveUpMs);
        break;
      case "set F":
        this.set("timer F", this.#options.giveUpMs);
        break;
      case "set silence":
        if (this.#options.silenceMs !== undefined) this.set("timer silence", this.#options.silenceMs);
        break;
      case "set D":
        this.set("timer D", reliable ? 0 : giveUpMs(timers));
        break;
      case "set K":
        this.set("timer K", reliable ? 0 : timers.t4Ms);
        break;
      case "set M":
        this.set("timer M", giveUpMs(timers));
        break;
      case "set cancel":
        this.set("timer cancel", giveUpMs(timers));
        break;
      case "set late":
        this.set("timer late", giveUpMs(timers));
        break;
      default:
        action satisfies never;
    }
  }

  #send(message: SipRequest, maySend?: () => boolean): void {
    try {
      if (this.flow.send(message, maySend) && message === this.request) this.#copyCount++;
    } catch (cause) {
      this.onLost(asTransportError(cause));
    }
  }

  /** Timers B and F. A connection without data since the request is considered dead. */
  #timeoutError(): TransportError {
    const silence = this.#silenceError(this.#options.giveUpMs);
    return this.#options.giveUpMs < giveUpMs(this.#options.timers) ? silence : (this.#closeSilent(silence) ?? silence);
  }

  /** Closes a silent connection and returns the fault; undefined if data has arrived. */
  #closeSilent(timeoutError: TransportError): TransportError | undefined {
    const closedError = deadFlowError(timeoutError, "was silent and is closed");
    return this.#watch?.close(closedError) === true ? closedError : undefined;
  }

  #silenceError(ms: number): TransportError {
    const { address, port } = this.flow.remote;
    const seconds = Math.round(ms / 100) / 10;
    const finding = this.state === "timed out" && this.#isCancelled ? "no final response after CANCEL" : `no response`;
    return new TransportError(
      "timeout",
      `${this.request.method} to ${address} port ${port} (${this.flow.kind}): ${finding} within ${seconds} s`,
    );
  }
}

function deadFlowError({ message }: TransportError, finding: string): TransportError {
  return new TransportError("closed", `${message}; the connection ${finding}`);
}
