import { createSocket } from "node:dgram";
import { createServer, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { createServer as createTlsServer } from "node:tls";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import { type SipMessage, type SipRequest, sipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import type { Flow, TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import {
  createTransports,
  type TransportsOptions,
  type TrunkTransports,
} from "../../../adapters/sip-stack/transport/transports.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { Certificate } from "../../support/certificates.ts";

/** True if this machine has ::1. */
export const hasLoopback6: boolean = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

/** Resources that a test closes at its end, in reverse order. */
export class TestResources {
  readonly #closers: (() => Promise<unknown>)[] = [];

  add<Resource extends { close(): Promise<unknown> }>(resource: Resource): Resource {
    this.#closers.push(() => resource.close());
    return resource;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}

/** The sockets of a trunk, with their reports. */
export interface ObservedTrunk {
  readonly transports: TrunkTransports;
  readonly messages: { readonly message: SipMessage; readonly flow: Flow }[];
  readonly closed: { readonly flow: Flow; readonly fault: TransportError }[];
  close(): Promise<void>;
}

export function observe(options: Partial<TransportsOptions> = {}): ObservedTrunk {
  const transports = createTransports({ system: realSystem, logger: silentLogger, ...options });
  const messages: ObservedTrunk["messages"] = [];
  const closed: ObservedTrunk["closed"] = [];
  transports.listen({
    message: (message, flow) => void messages.push({ message, flow }),
    closed: (flow, fault) => void closed.push({ flow, fault }),
  });
  return { transports, messages, closed, close: () => transports.close() };
}

/** The other end of a connection: the text received. */
export interface StreamPeer {
  readonly port: number;
  readonly sockets: Socket[];
  /** All text received on all connections. */
  received(): string;
  close(): Promise<void>;
}

/** Listens on loopback; over TLS with a certificate. */
export async function streamPeer(
  options: { readonly tls?: Certificate & { readonly ca?: string }; readonly address?: string } = {},
): Promise<StreamPeer> {
  const { tls, address = "127.0.0.1" } = options;
  const sockets: Socket[] = [];
  const allSockets = new Set<Socket>();
  let received = "";
  const accept = (socket: Socket): void => {
    sockets.push(socket);
    socket.on("data", (bytes: Uint8Array) => (received += new TextDecoder("latin1").decode(bytes)));
    socket.on("error", () => {});
  };
  const client = tls?.ca === undefined ? {} : { ca: tls.ca, requestCert: true, rejectUnauthorized: true };
  const server: Server = tls
    ? createTlsServer({ cert: tls.cert, key: tls.key, ...client }, accept)
    : createServer(accept);
  server.on("tlsClientError", () => {});
  server.on("connection", (socket: Socket) => {
    allSockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    port: (server.address() as { port: number }).port,
    sockets,
    received: () => received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of allSockets) socket.destroy();
      }),
  };
}

/** A bare UDP socket on loopback. */
export interface DatagramPeer {
  readonly address: string;
  readonly port: number;
  readonly received: { readonly text: string; readonly port: number; readonly address: string }[];
  send(text: string | Uint8Array, port: number, address?: string): void;
  close(): Promise<void>;
}

export async function datagramPeer(address = "127.0.0.1", port = 0): Promise<DatagramPeer> {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  const received: DatagramPeer["received"] = [];
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(port, address, resolve);
  });
  socket.on("error", () => {});
  socket.on("message", (bytes: Uint8Array, from) => {
    received.push({ text: new TextDecoder("latin1").decode(bytes), port: from.port, address: from.address });
  });
  return {
    address,
    port: socket.address().port,
    received,
    send: (text, toPort, toAddress = address) => void socket.send(text, toPort, toAddress, () => {}),
    close: () => new Promise((resolve) => void socket.close(() => resolve())),
  };
}

let branches = 0;

/** An OPTIONS request as the transport layer sends it. */
export function options(via = `SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK${++branches}`, body = ""): SipRequest {
  const headers = new SipHeaders()
    .add("Via", via)
    .add("Max-Forwards", "70")
    .add("From", "<sip:us@example.com>;tag=us")
    .add("To", "<sip:them@example.com>")
    .add("Call-ID", `call-${branches}`)
    .add("CSeq", "1 OPTIONS");
  return sipRequest("OPTIONS", "sip:them@example.com", headers, new TextEncoder().encode(body));
}

/** An AbortSignal that never fires. */
export const never: AbortSignal = new AbortController().signal;
