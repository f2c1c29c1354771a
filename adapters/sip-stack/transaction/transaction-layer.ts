import { parseVia } from "../message/header-values.ts";
import type { SipResponse } from "../message/message.ts";
import type { System } from "../ports.ts";
import type { Resolve } from "../transport/dns.ts";
import { defaultPort, type Flow, type Hop, TransportError, type Transports } from "../transport/transport.ts";
import { ClientSide } from "./client-side.ts";
import { type SipTimers, sipTimers } from "./machine.ts";
import { ServerSide } from "./server-side.ts";
import type { TransactionListener, Transactions } from "./transactions.ts";

/** Options of {@link createTransactions}. */
export interface TransactionOptions {
  readonly system: System;
  /** Times in place of those of the RFC, for tests. */
  readonly timers?: Partial<SipTimers> | undefined;
  /** Whether a failed hop is probed with OPTIONS. Default: true. */
  readonly asksFailedHops?: boolean | undefined;
}

const NO_LISTENER: TransactionListener = { request() {}, lateSuccess() {} };

/** The transaction layer (RFC 3261 section 17) of one trunk; takes over the listener of its transports and closes them. */
export function createTransactions(
  transports: Transports,
  resolve: Resolve,
  { system, timers: given, asksFailedHops = true }: TransactionOptions,
): Transactions {
  const timers = sipTimers(given);
  const ended = new AbortController();
  let listener = NO_LISTENER;
  let closing: Promise<void> | undefined;
  const client = new ClientSide({
    system,
    timers,
    transports,
    resolve: async (uri, signal) => {
      const hops = await resolve(uri, signal);
      transports.expect?.(hops);
      return hops;
    },
    late: (response, flow) => listener.lateSuccess(response, flow),
    asksFailedHops,
  });
  const server = new ServerSide({
    system,
    timers,
    reply: (response, flow) => void reply(transports, response, flow, ended.signal),
    listener: () => listener,
  });
  transports.listen({
    message(message, flow) {
      if (closing !== undefined) return;
      if (message.kind === "response") client.response(message);
      else server.request(message, flow);
    },
    closed: (flow, fault) => client.closed(flow, fault),
    hasCall: (callId) => listener.hasCall?.(callId) === true,
    ours: (request) => listener.ours?.(request) === true,
  });

  return {
    request(request, to, clientListener) {
      return client.request(request, to, clientListener);
    },
    ack(request, to) {
      void client.ack(request, to, ended.signal);
    },
    listen(next) {
      listener = next;
    },
    flowTo: (uri, signal) => client.flowTo(uri, signal),
    sentBy: (flow) => transports.sentBy(flow),
    close() {
      closing ??= (async () => {
        ended.abort();
        server.close();
        client.close(new TransportError("closed", "the trunk was closed"));
        await transports.close();
      })();
      return closing;
    },
  };
}

/**
 * Sends a response to the source of its request; if that connection is closed, on a new one to the address in the
 * request's Via (RFC 3261 section 18.2.2). A response that cannot be sent is dropped: the peer retransmits its request.
 */
async function reply(transports: Transports, response: SipResponse, flow: Flow, signal: AbortSignal): Promise<void> {
  try {
    if (flow.alive) {
      flow.send(response);
      return;
    }
    const hop = hopBack(response, flow);
    if (hop !== undefined) (await transports.connect(hop, signal)).send(response);
  } catch {
    // dropped
  }
}

function hopBack(response: SipResponse, { kind, remote }: Flow): Hop | undefined {
  const via = parseVia(response.headers.list("Via")[0] ?? "");
  if (via === undefined || kind === "udp") return undefined;
  return { kind, host: via.host, address: remote.address, port: via.port ?? defaultPort(kind) };
}
