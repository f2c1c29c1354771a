import { responseTo, type SipRequest, type SipResponse } from "../message/message.ts";
import type { System } from "../ports.ts";
import type { Flow } from "../transport/transport.ts";
import { Machine } from "./machine.ts";
import {
  INVITE_SERVER,
  NON_INVITE_SERVER,
  type ServerAction,
  type ServerInput,
  type ServerState,
} from "./server-tables.ts";
import { giveUpMs, type SipTimers } from "./timers.ts";
import type { IncomingRequest } from "./transactions.ts";

/** How long the transaction user may take before a 100 is sent, ms (RFC 3261 section 17.2.1). */
const TRYING_MS = 200;

/** Options of {@link ServerTransaction}. */
export interface ServerTransactionOptions {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly system: System;
  readonly timers: SipTimers;
  /** Sends a response on the request's flow, or on a new one if that is closed. */
  readonly reply: (response: SipResponse, to: Flow) => void;
  /** Our 2xx to an INVITE was sent: its ACK, which has another branch, belongs to this transaction. */
  readonly accepted: (transaction: ServerTransaction, response: SipResponse) => void;
  readonly acknowledged: (ack: SipRequest, flow: Flow) => void;
  readonly unacknowledged: (transaction: ServerTransaction) => void;
  readonly terminated: (transaction: ServerTransaction) => void;
}

/** A server transaction (RFC 3261 section 17.2). */
export class ServerTransaction implements IncomingRequest {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly #options: ServerTransactionOptions;
  readonly #machine: Machine<ServerState, ServerInput, ServerAction>;
  #last: SipResponse | undefined;
  #ack: { readonly request: SipRequest; readonly flow: Flow } | undefined;
  /** Timer G: the pause before the next retransmission, ms. */
  #pauseMs: number;

  constructor(options: ServerTransactionOptions) {
    this.#options = options;
    this.request = options.request;
    this.flow = options.flow;
    this.#pauseMs = options.timers.t1Ms;
    const invite = options.request.method === "INVITE";
    this.#machine = new Machine<ServerState, ServerInput, ServerAction>({
      table: invite ? INVITE_SERVER : NON_INVITE_SERVER,
      start: invite ? "proceeding" : "trying",
      system: options.system,
      perform: (action) => this.#perform(action),
      terminated: () => options.terminated(this),
    });
    this.#machine.input("start");
  }

  get state(): ServerState {
    return this.#machine.state;
  }

  get done(): boolean {
    return this.#last !== undefined && this.#last.status >= 200;
  }

  respond(response: SipResponse): void {
    if (this.done) return;
    this.#last = response;
    if (response.status >= 200 && response.status < 300 && this.request.method === "INVITE")
      this.#options.accepted(this, response);
    this.#machine.input(response.status < 200 ? "1xx" : response.status < 300 ? "2xx" : "300-699");
  }

  /** The request was retransmitted. */
  repeated(): void {
    this.#machine.input("request");
  }

  acknowledged(request: SipRequest, flow: Flow): void {
    this.#ack = { request, flow };
    this.#machine.input("ack");
  }

  /** Stops the timers and the retransmissions. */
  stop(): void {
    this.#machine.stop();
  }

  #perform(action: ServerAction): void {
    const { timers } = this.#options;
    const { reliable } = this.flow;
    const machine = this.#machine;
    switch (action) {
      case "send":
      case "resend":
        if (this.#last !== undefined) this.#options.reply(this.#last, this.flow);
        break;
      case "send 100":
        if (this.#last === undefined) this.respond(responseTo(this.request, 100, "Trying"));
        break;
      case "pass ack":
        if (this.#ack !== undefined) this.#options.acknowledged(this.#ack.request, this.#ack.flow);
        break;
      case "unacknowledged":
        this.#options.unacknowledged(this);
        break;
      case "set 100":
        machine.set("timer 100", TRYING_MS);
        break;
      case "set G":
        if (!reliable) machine.set("timer G", this.#pauseMs);
        break;
      case "set G always":
        machine.set("timer G", this.#pauseMs);
        break;
      case "double G":
        this.#pauseMs = Math.min(2 * this.#pauseMs, timers.t2Ms);
        machine.set("timer G", this.#pauseMs);
        break;
      case "set H":
        machine.set("timer H", giveUpMs(timers));
        break;
      case "set L":
        machine.set("timer L", giveUpMs(timers));
        break;
      case "set I":
        machine.set("timer I", reliable ? 0 : timers.t4Ms);
        break;
      case "set J":
        machine.set("timer J", reliable ? 0 : giveUpMs(timers));
        break;
      default:
        action satisfies never;
    }
  }
}
