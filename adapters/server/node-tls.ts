import type { RequestListener, ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Tls } from "./listening.ts";
import { checkTls } from "./tls-fault.ts";

/** Maximum duration of a TLS handshake, ms. */
const HANDSHAKE_MS = 10_000;

/** An HTTPS server. */
export interface TlsServer {
  readonly server: Server;
  /** Closes all connections; `closeAllConnections` leaves out those still in the handshake. */
  endConnections(): void;
  /** @throws {CannotListen} the certificate or its key cannot be used */
  setCertificate(tls: Tls): void;
}

/** Creates an HTTPS server. @throws {CannotListen} the certificate or its key cannot be used */
export function createTlsServer(tls: Tls, options: ServerOptions, listener: RequestListener): TlsServer {
  checkTls(tls);
  const server = createServer({ ...options, cert: tls.cert, key: tls.key, handshakeTimeout: HANDSHAKE_MS }, listener);
  // Node reports a broken handshake like a broken request, but no client can read a response before the handshake.
  server.removeAllListeners("tlsClientError").on("tlsClientError", (_, socket) => socket.destroy());
  const openSockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    openSockets.add(socket);
    socket.once("close", () => openSockets.delete(socket));
  });
  return {
    server,
    endConnections() {
      for (const socket of openSockets) socket.destroy();
    },
    setCertificate(newTls) {
      checkTls(newTls);
      server.setSecureContext({ cert: newTls.cert, key: newTls.key });
    },
  };
}
