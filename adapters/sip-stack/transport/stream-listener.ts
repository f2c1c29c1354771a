import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { readTls, type TlsOptions } from "./tls.ts";
import { networkFault, type SocketAddress, TransportError, type TransportKind } from "./transport.ts";

/** Time limit for a TLS handshake, ms. */
const HANDSHAKE_MS = 10_000;
/** Maximum number of concurrent connections, including those in a handshake. */
const MAX_SOCKETS = 512;

/** The port that the peer connects to. */
export interface StreamServerOptions {
  /** The transport that the peer uses. */
  readonly transport: "udp" | "tcp" | "tls";
  /** The port to listen on. */
  readonly port: number;
  /** The address to listen on. Default: all addresses. */
  readonly address?: string | undefined;
}

/** Options of {@link StreamListener}. */
export interface StreamListenerOptions {
  readonly listen: StreamServerOptions;
  readonly tls: TlsOptions;
  readonly accept: (socket: Socket, kind: Exclude<TransportKind, "udp">) => void;
}

/** Accepts connections from peers. */
export class StreamListener {
  readonly boundAddress: SocketAddress;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #closed: Promise<void> | undefined;

  private constructor(server: Server, sockets: Set<Socket>) {
    const { address, port } = server.address() as { address: string; port: number };
    this.boundAddress = { address, port };
    this.#server = server;
    this.#sockets = sockets;
  }

  /** Opens the port. @throws {TransportError} the port is in use, or the certificate is invalid */
  static async open({ listen, tls, accept }: StreamListenerOptions): Promise<StreamListener> {
    const kind = listen.transport === "tls" ? "tls" : "tcp";
    const operation = `listening on ${kind.toUpperCase()} port ${listen.port} failed`;
    const sockets = new Set<Socket>();
    let server: Server;
    if (kind === "tls") {
      const { cert, key } = await readTls(tls);
      if (cert === undefined || key === undefined)
        throw new TransportError("tls", `${operation}: the certificate is missing; set tls.cert and tls.key`);
      try {
        server = createTlsServer({ cert, key, minVersion: "TLSv1.2", handshakeTimeout: HANDSHAKE_MS }, (socket) =>
          accept(socket, "tls"),
        );
      } catch (cause) {
        const { message } = cause as Error;
        throw new TransportError("tls", `${operation}: tls.cert and tls.key are invalid (${message})`, { cause });
      }
      server.on("tlsClientError", (_cause: unknown, socket: Socket) => socket.destroy());
    } else server = createTcpServer((socket) => accept(socket, "tcp"));
    // Connections in a handshake do not have a flow yet that would close them.
    server.on("connection", (socket: Socket) => {
      if (sockets.size >= MAX_SOCKETS) {
        socket.destroy();
        return;
      }
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      socket.on("error", () => socket.destroy());
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ port: listen.port, ...(listen.address === undefined ? {} : { host: listen.address }) }, () => {
          server.off("error", reject);
          resolve();
        });
      });
    } catch (cause) {
      throw networkFault(cause, operation);
    }
    server.on("error", () => {}); // such as too many open files: later connections may succeed
    return new StreamListener(server, sockets);
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
    return this.#closed;
  }
}
