import { SipHeaders } from "../../../../adapters/sip-stack/message/headers.ts";
import { withTag } from "../../../../adapters/sip-stack/message/name-addr.ts";
import {
  responseTo,
  type SipRequest,
  type SipResponse,
  sipRequest,
} from "../../../../adapters/sip-stack/message/sip-message.ts";
import type {
  ClientTransactionListener,
  IncomingRequest,
  OutgoingRequest,
  TransactionListener,
  Transactions,
} from "../../../../adapters/sip-stack/transaction/transactions.ts";
import type { Flow, TransportError, TransportKind } from "../../../../adapters/sip-stack/transport/transport.ts";

/** Parts of a scripted response. */
export interface ScriptedResponse {
  readonly reason?: string;
  readonly tag?: string | undefined;
  readonly sdp?: string | undefined;
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

/** A flow to a scripted peer. */
export class ScriptedFlow implements Flow {
  readonly kind: TransportKind;
  readonly local = { address: "192.0.2.7", port: 5060 };
  readonly remote: { address: string; port: number };
  isAlive = true;
  holds = 0;

  constructor(kind: TransportKind = "udp", address = "192.0.2.1", port = kind === "tls" ? 5061 : 5060) {
    this.kind = kind;
    this.remote = { address, port };
  }

  get reliable(): boolean {
    return this.kind !== "udp";
  }

  send(): boolean {
    throw new Error("a scripted flow cannot send");
  }

  hold(): () => void {
    this.holds++;
    let isHeld = true;
    return () => {
      if (isHeld) this.holds--;
      isHeld = false;
    };
  }
}

/** A sent request under the test's control. */
export class SentRequest implements OutgoingRequest {
  readonly request: SipRequest;
  readonly to: string | Flow;
  readonly #listener: ClientTransactionListener;
  readonly #flow: Flow;
  /** Reason of a CANCEL, or an empty text; undefined if there was no CANCEL. */
  cancelReason: string | undefined;
  isAbandoned = false;
  isUnanswered = false;
  isFinished = false;
  /** Status of its final response. */
  finalStatus: number | undefined;

  constructor(request: SipRequest, to: string | Flow, flow: Flow, listener: ClientTransactionListener) {
    this.request = { ...request, headers: request.headers.clone() };
    this.to = to;
    this.#flow = flow;
    this.#listener = listener;
  }

  start(): void {
    this.#listener.prepare?.(this.request, this.#flow, "192.0.2.7:5060");
    this.#listener.sentRequest?.(this.request, this.#flow);
  }

  get method(): string {
    return this.request.method;
  }

  get body(): string {
    return new TextDecoder().decode(this.request.body);
  }

  header(name: string): string | undefined {
    return this.request.headers.get(name);
  }

  /** True if the layer would send it now. */
  get maySend(): boolean {
    return this.#listener.maySend?.() ?? true;
  }

  cancel(reason = ""): void {
    if (!this.isFinished) this.cancelReason = reason;
  }

  abandon(): void {
    this.isAbandoned = true;
  }

  /** A response to this request, not sent yet. */
  response(status: number, { reason = "", tag, sdp, fields = [] }: ScriptedResponse = {}): SipResponse {
    const body = new TextEncoder().encode(sdp ?? "");
    const response = responseTo(this.request, status, reason, body);
    if (tag !== undefined) response.headers.set("To", withTag(response.headers.get("To") ?? "", tag));
    if (sdp !== undefined) response.headers.add("Content-Type", "application/sdp");
    for (const [name, value] of fields) response.headers.add(name, value);
    return response;
  }

  /** Lets the peer respond. */
  respond(status: number, answer?: ScriptedResponse, flow: Flow = this.#flow): SipResponse {
    const response = this.response(status, answer);
    if (this.isFinished) throw new Error(`${this.method} already has its final response`);
    this.isFinished = status >= 200;
    if (this.isFinished) this.finalStatus = status;
    if (this.isAbandoned) return response;
    if (status < 200) this.#listener.provisional?.(response, flow);
    else this.#listener.final(response, flow);
    return response;
  }

  fail(fault: TransportError): void {
    this.isFinished = true;
    this.isUnanswered = fault.fault === "timeout";
    if (!this.isAbandoned) this.#listener.failed(fault);
  }
}

/** A received request and its responses. */
export class ScriptedRequest implements IncomingRequest {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly responses: SipResponse[] = [];

  constructor(request: SipRequest, flow: Flow) {
    this.request = request;
    this.flow = flow;
  }

  get hasFinalResponse(): boolean {
    return this.responses.some(({ status }) => status >= 200);
  }

  respond(response: SipResponse): void {
    this.responses.push(response);
  }

  get status(): number | undefined {
    return this.responses.at(-1)?.status;
  }

  get body(): string {
    return new TextDecoder().decode(this.responses.at(-1)?.body);
  }

  header(name: string): string | undefined {
    return this.responses.at(-1)?.headers.get(name);
  }
}

/** Transactions without a network: the test is the peer. */
export class ScriptedTransactions implements Transactions {
  readonly flow: ScriptedFlow;
  readonly sent: SentRequest[] = [];
  readonly acks: { request: SipRequest; to: string | Flow }[] = [];
  #listener: TransactionListener | undefined;

  constructor(flow = new ScriptedFlow()) {
    this.flow = flow;
  }

  request(request: SipRequest, to: string | Flow, listener: ClientTransactionListener): OutgoingRequest {
    const sent = new SentRequest(request, to, this.flow, listener);
    this.sent.push(sent);
    queueMicrotask(() => sent.start());
    return sent;
  }

  ack(request: SipRequest, to: string | Flow): void {
    this.acks.push({ request, to });
  }

  listen(listener: TransactionListener): void {
    this.#listener = listener;
  }

  flowTo(): Promise<Flow> {
    return Promise.reject(new Error("a scripted flow cannot send"));
  }

  sentBy(): string {
    return "192.0.2.7:5060";
  }

  async close(): Promise<void> {}

  /** The latest request of this method. */
  last(method: string): SentRequest {
    const sent = this.sent.findLast((request) => request.method === method);
    if (sent === undefined) throw new Error(`no ${method} was sent`);
    return sent;
  }

  count(method: string): number {
    return this.sent.filter((request) => request.method === method).length;
  }

  /** Receives a request. */
  receive(
    method: string,
    fields: readonly (readonly [string, string])[],
    body = "",
    flow: Flow = this.flow,
  ): ScriptedRequest {
    const headers = new SipHeaders();
    for (const [name, value] of fields) headers.add(name, value);
    const incoming = new ScriptedRequest(
      sipRequest(method, "sip:us@192.0.2.7", headers, new TextEncoder().encode(body)),
      flow,
    );
    this.#listener?.request(incoming);
    return incoming;
  }

  lateSuccess(response: SipResponse): void {
    this.#listener?.lateSuccess(response, this.flow);
  }

  unacknowledged(incoming: ScriptedRequest): void {
    this.#listener?.ackMissing?.(incoming);
  }
}
