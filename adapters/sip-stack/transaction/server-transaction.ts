import { responseTo, type SipRequest, type SipResponse } from "../message/sip-message.ts";
import type { System } from "../ports.ts";
import type { Flow } from "../transport/transport.ts";
import { giveUpMs, Machine, type SipTimers, type TransactionTable } from "./transaction-machine.ts";
import type { IncomingRequest } from "./transactions.ts";

/** States of a server transaction (RFC 3261 sections 17.2.1 and 17.2.2). */
type ServerState =
  | "trying"
  | "proceeding"
  | "completed"
  | "confirmed"
  /** Our 2xx has been sent, and is retransmitted until its ACK arrives. */
  | "accepted"
  /** The ACK for our 2xx has arrived; retransmissions of the request may follow. */
  | "acknowledged"
  | "terminated";

type ServerInput =
  /** A retransmission of the request. */
  | "request"
  | "1xx"
  | "2xx"
  | "300-699"
  | "ack"
  | "start"
  /** 200 ms without a response from the transaction user (RFC 3261 section 17.2.1). */
  | "timer 100"
  | "timer G"
  | "timer H"
  | "timer I"
  | "timer J"
  | "timer L";

type ServerAction =
  /** Sends the new response. */
  | "send"
  /** Retransmits the last response. */
  | "resend"
  | "send 100"
  /** Passes the ACK for a 2xx to the transaction user. */
  | "pass ack"
  | "unacknowledged"
  | "set 100"
  | "set G"
  | "double G"
  /** Like `set G`, but on a reliable transport too: a 2xx is retransmitted end to end. */
  | "set G always"
  | "set H"
  | "set I"
  | "set J"
  | "set L";

type ServerTable = TransactionTable<ServerState, ServerInput, ServerAction>;

/**
 * INVITE: figure 7 of RFC 3261 with the accepted state of RFC 6026; the transaction retransmits the 2xx (RFC 3261 section
 * 13.3.1.4).
 */
const INVITE_SERVER: ServerTable = {
  proceeding: {
    start: { to: "proceeding", do: ["set 100"] },
    "timer 100": { to: "proceeding", do: ["send 100"] },
    request: { to: "proceeding", do: ["resend"] },
    "1xx": { to: "proceeding", do: ["send"] },
    "2xx": { to: "accepted", do: ["send", "set G always", "set L"] },
    "300-699": { to: "completed", do: ["send", "set G", "set H"] },
  },
  accepted: {
    request: { to: "accepted", do: ["resend"] },
    "timer G": { to: "accepted", do: ["resend", "double G"] },
    ack: { to: "acknowledged", do: ["pass ack"] },
    "timer L": { to: "terminated", do: ["unacknowledged"] },
  },
  acknowledged: {
    ack: { to: "acknowledged", do: ["pass ack"] },
    "timer L": { to: "terminated", do: [] },
  },
  completed: {
    request: { to: "completed", do: ["resend"] },
    "timer G": { to: "completed", do: ["resend", "double G"] },
    ack: { to: "confirmed", do: ["set I"] },
    "timer H": { to: "terminated", do: [] },
  },
  confirmed: {
    "timer I": { to: "terminated", do: [] },
  },
  trying: {},
  terminated: {},
};

/** Every other method: figure 8 of RFC 3261. */
const NON_INVITE_SERVER: ServerTable = {
  trying: {
    "1xx": { to: "proceeding", do: ["send"] },
    "2xx": { to: "completed", do: ["send", "set J"] },
    "300-699": { to: "completed", do: ["send", "set J"] },
  },
  proceeding: {
    request: { to: "proceeding", do: ["resend"] },
    "1xx": { to: "proceeding", do: ["send"] },
    "2xx": { to: "completed", do: ["send", "set J"] },
    "300-699": { to: "completed", do: ["send", "set J"] },
  },
  completed: {
    request: { to: "completed", do: ["resend"] },
    "timer J": { to: "terminated", do: [] },
  },
  confirmed: {},
  accepted: {},
  acknowledged: {},
  terminated: {},
};

/** Time limit for the transaction user, after which a 100 is sent, ms (RFC 3261 section 17.2.1). */
const TRYING_MS = 200;

/** Options of {@link ServerTransaction}. */
interface ServerTransactionOptions {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly system: System;
  readonly timers: SipTimers;
  /** Sends a response on the request's flow, or on a new one if that is closed. */
  readonly reply: (response: SipResponse, to: Flow) => void;
  /** Called when our 2xx to an INVITE has been sent: its ACK, which has another branch, belongs to this transaction. */
  readonly invite: (transaction: ServerTransaction, response: SipResponse) => void;
  readonly acknowledged: (ack: SipRequest, flow: Flow) => void;
  readonly unacknowledged: (transaction: ServerTransaction) => void;
  readonly terminated: (transaction: ServerTransaction) => void;
}

/** A server transaction (RFC 3261 section 17.2). */
export class ServerTransaction extends Machine<ServerState, ServerInput, ServerAction> implements IncomingRequest {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly #options: ServerTransactionOptions;
  #lastResponse: SipResponse | undefined;
  #ack: { readonly request: SipRequest; readonly flow: Flow } | undefined;
  /** Timer G: the pause before the next retransmission, ms. */
  #pauseMs: number;

  constructor(options: ServerTransactionOptions) {
    const isInvite = options.request.method === "INVITE";
    super(isInvite ? INVITE_SERVER : NON_INVITE_SERVER, isInvite ? "proceeding" : "trying", options.system);
    this.#options = options;
    this.request = options.request;
    this.flow = options.flow;
    this.#pauseMs = options.timers.t1Ms;
    this.input("start");
  }

  get hasFinalResponse(): boolean {
    return this.#lastResponse !== undefined && this.#lastResponse.status >= 200;
  }

  respond(response: SipResponse): void {
    if (this.hasFinalResponse) return;
    this.#lastResponse = response;
    if (response.status >= 200 && response.status < 300 && this.request.method === "INVITE")
      this.#options.invite(this, response);
    this.input(response.status < 200 ? "1xx" : response.status < 300 ? "2xx" : "300-699");
  }

  /** Handles a retransmission of the request. */
  onRetransmission(): void {
    this.input("request");
  }

  acknowledged(request: SipRequest, flow: Flow): void {
    this.#ack = { request, flow };
    this.input("ack");
  }

  protected override terminated(): void {
    this.#options.terminated(this);
  }

  protected override perform(action: ServerAction): void {
    const { timers } = this.#options;
    const { reliable } = this.flow;
    switch (action) {
      case "send":
      case "resend":
        if (this.#lastResponse !== undefined) this.#options.reply(this.#lastResponse, this.flow);
        break;
      case "send 100":
        if (this.#lastResponse === undefined) this.respond(responseTo(this.request, 100, "Trying"));
        break;
      case "pass ack":
        if (this.#ack !== undefined) this.#options.acknowledged(this.#ack.request, this.#ack.flow);
        break;
      case "unacknowledged":
        this.#options.unacknowledged(this);
        break;
      case "set 100":
        this.set("timer 100", TRYING_MS);
        break;
      case "set G":
        if (!reliable) this.set("timer G", this.#pauseMs);
        break;
      case "set G always":
        this.set("timer G", this.#pauseMs);
        break;
      case "double G":
        this.#pauseMs = Math.min(2 * this.#pauseMs, timers.t2Ms);
        this.set("timer G", this.#pauseMs);
        break;
      case "set H":
        this.set("timer H", giveUpMs(timers));
        break;
      case "set L":
        this.set("timer L", giveUpMs(timers));
        break;
      case "set I":
        this.set("timer I", reliable ? 0 : timers.t4Ms);
        break;
      case "set J":
        this.set("timer J", reliable ? 0 : giveUpMs(timers));
        break;
      default:
        action satisfies never;
    }
  }
}
