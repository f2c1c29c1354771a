import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { WebApp } from "../../src/ports/web.ts";
import { atEdge } from "./edge.ts";
import { brokenApp, fault } from "./fault.ts";
import { hostFault } from "./host-fault.ts";
import {
  CLOSE_GRACE_MS,
  cannotListen,
  DEFAULT_HOSTNAME,
  DEFAULT_PORT,
  type Listening,
  localUrl,
  type ServedApp,
  type ServeOptions,
  STALL_MS,
  type Tls,
} from "./listening.ts";
import { writeReply } from "./node-reply.ts";
import { hostsOf, isUnread, NodeRequest } from "./node-request.ts";
import { turnOf } from "./node-turns.ts";
import { attachUpgrade, refuse, takesUpgrade } from "./node-upgrade.ts";

export { CannotListen, type Listening, type ServedApp, type ServeOptions, type Tls } from "./listening.ts";
export { attachUpgrade, type UpgradeOptions } from "./node-upgrade.ts";

/** Time limit for a client to send the head of a request, ms. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Time limit for a client to send a whole request, ms: enough for 16 MiB over a slow connection. */
const REQUEST_TIMEOUT_MS = 120_000;
/** Idle timeout of connections, ms; longer than common proxies' timeouts. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Interval for checking the three limits above, ms. */
const CHECK_INTERVAL_MS = 5_000;

/** Responds to a request. Calls `next`, as passed by Express and Connect, for paths that are not the application's. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => Promise<void>;

/**
 * A request listener for `node:http`, Express, Connect, Koa (`ctx.req`, `ctx.res`) and Fastify (`request.raw`,
 * `reply.raw`): `createServer(handler(ringport))`, `express().use(handler(ringport))`. Never rejects.
 */
export function handler(app: WebApp, { stallMs = STALL_MS }: Pick<ServeOptions, "stallMs"> = {}): NodeListener {
  return async (message, response, next) => {
    if (!(await turnOf(message, response))) return;
    const request = new NodeRequest(message);
    if (next && !(await app.claims(request).catch(() => true))) {
      next();
      return;
    }
    const reply = hostFault(hostsOf(message)) ?? (await app.handle(request).catch(brokenApp));
    // A body that has fully arrived counts as read: the connection can be reused.
    if (isUnread(message)) await nextTurn();
    writeReply(message, response, reply, stallMs);
  };
}

/**
 * Serves an application, WebSockets included: `const { url } = await serve(createRingport(), { port: 8080 })`.
 * @throws {CannotListen} the port is in use or unavailable, or the certificate cannot be used
 */
export async function serve(servedApp: ServedApp, options: ServeOptions = {}): Promise<Listening> {
  const app = atEdge(servedApp, options);
  const { port = DEFAULT_PORT, hostname = DEFAULT_HOSTNAME } = options;
  const serverOptions: ServerOptions & { shouldUpgradeCallback: typeof takesUpgrade } = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    shouldUpgradeCallback: takesUpgrade,
  };
  const listener = handler(app, options);
  const tlsServer =
    options.tls && (await import("./node-tls.ts")).createTlsServer(options.tls, serverOptions, listener);
  const server: Server = tlsServer?.server ?? createServer(serverOptions, listener);
  server.on("clientError", respondToBrokenRequest);
  const upgrades = attachUpgrade(server, app, { prefix: "" }); // even `GET *` and `ftp://h/x`: no other code responds
  await listen(server, port, hostname).catch((error: unknown) => {
    upgrades.close();
    throw cannotListen(hostname, port, error);
  });
  const boundPort = (server.address() as AddressInfo).port;
  let closePromise: Promise<void> | undefined;
  return {
    url: localUrl(hostname, boundPort, tlsServer ? "https" : "http"),
    port: boundPort,
    ...(tlsServer && { setCertificate: (tls: Tls) => tlsServer.setCertificate(tls) }),
    close() {
      closePromise ??= new Promise<void>((resolve) => {
        const graceTimer = setTimeout(() => {
          server.closeAllConnections();
          tlsServer?.endConnections();
        }, CLOSE_GRACE_MS);
        server.close(() => {
          clearTimeout(graceTimer);
          resolve();
        });
        upgrades.close();
        server.closeIdleConnections();
      });
      return closePromise;
    },
  };
}

function listen(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Responds with a problem document if Node's parser cannot read the request. */
function respondToBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  socket.on("error", () => socket.destroy());
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (error.code === "HPE_HEADER_OVERFLOW")
    refuse(
      socket,
      fault(431, "The header fields are too large", "headers_too_large", "send at most 16 KiB of headers"),
    );
  else if (error.code === "ERR_HTTP_REQUEST_TIMEOUT")
    refuse(
      socket,
      fault(408, "The request took too long", "request_timeout", "send the whole request within 2 minutes"),
    );
  else refuse(socket, fault(400, "The request is not HTTP", "malformed_request", "the request could not be read"));
}
