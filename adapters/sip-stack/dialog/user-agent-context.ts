import { randomText } from "../message/grammar.ts";
import { tagOf, withTag } from "../message/name-addr.ts";
import { EMPTY_BODY, responseTo, type SipMessage, type SipRequest } from "../message/sip-message.ts";
import type { IncomingRequest, Transactions } from "../transaction/transactions.ts";
import type { Flow } from "../transport/transport.ts";
import type { DialogTermination } from "./dialog-termination.ts";
import { REASONS, type ResponseStatus } from "./refusals.ts";
import type { HeaderField, UserAgentOptions } from "./user-agent-options.ts";

/** Parts of a response besides its status. */
export interface ReplyParts {
  readonly headers?: readonly HeaderField[];
  readonly body?: Uint8Array;
  /** Adds our Contact, the remote target of the peer's next requests: for a 2xx to INVITE or UPDATE. */
  readonly contact?: boolean;
  /** The core's call id, for the trace. */
  readonly callId?: string;
}

/** Shared by all requests and dialogs of one user agent. */
export class AgentContext {
  readonly options: UserAgentOptions;
  /** BYEs that have no final response yet. */
  readonly terminations: Set<DialogTermination> = new Set();
  /** True once the user agent is closed: it starts no new calls or requests. */
  isClosed = false;

  constructor(options: UserAgentOptions) {
    this.options = options;
  }

  get transactions(): Transactions {
    return this.options.transactions;
  }

  /** The User-Agent field of our requests. */
  get userAgent(): HeaderField {
    return ["User-Agent", this.options.identity.product];
  }

  /** An unguessable hexadecimal token for tags and Call-IDs. */
  token(bytes = 8): string {
    return randomText(this.options.system, bytes);
  }

  /**
   * The random wait after a 491, ms: 2.1 to 4 s in steps of 10 ms, since we chose the Call-ID (RFC 3261 section 14.1).
   */
  glareDelayMs(): number {
    const random = new Uint32Array(1);
    this.options.system.random(new Uint8Array(random.buffer));
    return 2100 + 10 * (random[0]! % 191);
  }

  /** The value of our Contact on this flow. */
  contact(flow: Flow, sentBy: string = this.transactions.sentBy(flow)): string {
    return `<${this.options.identity.contact(sentBy, flow)}>`;
  }

  /** Removes our credentials from a request to any server but the trunk's. */
  withholdCredentials({ headers }: SipRequest, target: string | Flow): void {
    if (this.options.trusts(target)) return;
    headers.delete("Authorization");
    headers.delete("Proxy-Authorization");
  }

  /** Sends a response, and adds a To tag if the request had none. */
  reply(transaction: IncomingRequest, status: ResponseStatus, parts: ReplyParts = {}): void {
    const { headers = [], body = EMPTY_BODY, contact = false, callId } = parts;
    const response = responseTo(transaction.request, status, REASONS[status], body);
    const to = response.headers.get("To");
    if (to !== undefined && tagOf(to) === undefined) response.headers.set("To", withTag(to, this.token()));
    if (contact) response.headers.add("Contact", this.contact(transaction.flow));
    for (const [name, value] of headers) response.headers.add(name, value);
    response.headers.add("Server", this.options.identity.product);
    transaction.respond(response);
    this.trace(callId, "sent", response);
  }

  /** Passes a call's message to the trace. */
  trace(callId: string | undefined, direction: "sent" | "received", message: SipMessage): void {
    if (callId !== undefined) this.options.trace?.(callId, direction, message);
  }
}
