import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import { type SipRequest, type SipResponse, sipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import {
  createTransactions,
  type TransactionOptions,
} from "../../../adapters/sip-stack/transaction/transaction-layer.ts";
import type {
  IncomingRequest,
  OutgoingRequest,
  Transactions,
} from "../../../adapters/sip-stack/transaction/transactions.ts";
import { createResolve } from "../../../adapters/sip-stack/transport/resolver.ts";
import type { Flow, TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import {
  createTransports,
  type TransportsOptions,
  type TrunkTransports,
} from "../../../adapters/sip-stack/transport/transports.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";

let callCount = 0;

/** A request without Via. */
export function request(
  method: string,
  uri: string,
  fields: Readonly<Record<string, string>> = {},
  body = "",
): SipRequest {
  const headers = new SipHeaders()
    .add("Max-Forwards", "70")
    .add("From", "<sip:us@example.com>;tag=us")
    .add("To", `<${uri}>`)
    .add("Call-ID", `call-${++callCount}`)
    .add("CSeq", `1 ${method}`);
  for (const [name, value] of Object.entries(fields)) headers.set(name, value);
  return sipRequest(method, uri, headers, new TextEncoder().encode(body));
}

/** Events of a request, in order. */
export interface RecordedRequest {
  readonly transaction: OutgoingRequest;
  /** `sent`, the status of every response, and the fault. */
  readonly events: string[];
  readonly responses: SipResponse[];
  readonly flows: Flow[];
  /** Resolves with the final response, or the fault. */
  readonly end: Promise<SipResponse | TransportError>;
}

/** Sends a request and records its events. */
export function send(transactions: Transactions, message: SipRequest, to: string | Flow): RecordedRequest {
  const events: string[] = [];
  const responses: SipResponse[] = [];
  const flows: Flow[] = [];
  let resolveEnd: (end: SipResponse | TransportError) => void = () => {};
  const end = new Promise<SipResponse | TransportError>((resolve) => (resolveEnd = resolve));
  const transaction = transactions.request(message, to, {
    prepare: (copy, _flow, sentBy) => void copy.headers.set("Contact", `<sip:us@${sentBy}>`),
    sentRequest: (_request, flow) => {
      events.push("sent");
      flows.push(flow);
    },
    provisional: (response) => {
      events.push(String(response.status));
      responses.push(response);
    },
    final: (response) => {
      events.push(String(response.status));
      responses.push(response);
      resolveEnd(response);
    },
    failed: (fault) => {
      events.push(fault.fault);
      resolveEnd(fault);
    },
  });
  return { transaction, events, responses, flows, end };
}

/** Both layers of one trunk, with everything received outside our requests. */
export interface Trunk {
  readonly transports: TrunkTransports;
  readonly transactions: Transactions;
  readonly requests: IncomingRequest[];
  readonly lateSuccesses: SipResponse[];
  readonly missingAcks: IncomingRequest[];
}

/** Opens both layers on real sockets. */
export function openTrunk(options: Partial<TransportsOptions & TransactionOptions> = {}): Trunk {
  const system = options.system ?? realSystem;
  const transports = createTransports({ system, logger: silentLogger, ...options });
  const transactions = createTransactions(transports, createResolve({ system }), { system, timers: options.timers });
  const requests: IncomingRequest[] = [];
  const lateSuccesses: SipResponse[] = [];
  const missingAcks: IncomingRequest[] = [];
  transactions.listen({
    request: (transaction) => void requests.push(transaction),
    lateSuccess: (response) => void lateSuccesses.push(response),
    ackMissing: (transaction) => void missingAcks.push(transaction),
  });
  return { transports, transactions, requests, lateSuccesses, missingAcks };
}
