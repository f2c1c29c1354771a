import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { inTurns } from "../../src/http/replies/in-turns.ts";
import { isInPieces } from "../../src/http/replies/reply.ts";
import type { Reply, WebApp } from "../../src/ports/web.ts";
import { closeUnopened } from "./close-unopened.ts";
import { brokenApp, fault, isReply } from "./fault.ts";
import { decideUpgrade, offersWebSocket } from "./handshake.ts";
import { hostFault } from "./host-fault.ts";
import { CLOSE_GRACE_MS, MAX_MESSAGE_BYTES, reachableUrl, type ServedApp, STALL_MS } from "./listening.ts";
import { hasBody, hostsOf, NodeRequest } from "./node-request.ts";
import { connectSocket } from "./node-socket.ts";

/** Options of {@link attachUpgrade}. */
export interface UpgradeOptions {
  /**
   * Prefix of the paths whose upgrades are handled. All others are left to the server's other `upgrade` listeners; if
   * there are none, the response is 404. Default: `/v1/`.
   */
  readonly prefix?: string | undefined;
}

/** Interval for probing each WebSocket, ms; a WebSocket that stays silent until the next probe is closed. */
const PING_MS = 5_000;

/**
 * Serves WebSockets on a Node server: `attachUpgrade(server, ringport, { prefix: "/api/v1/" })`. It also passes the
 * server's address to the application, which uses it for QR codes unless `publicUrl` is set.
 */
export function attachUpgrade(
  server: Server,
  app: ServedApp,
  { prefix = "/v1/" }: UpgradeOptions = {},
): { close(): void } {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    clientTracking: true,
  });
  const aliveSockets = new WeakSet<WebSocket>();
  const pings = setInterval(() => {
    for (const ws of sockets.clients) {
      // A paused connection's pong may be among its unread bytes.
      if (ws.isPaused) aliveSockets.add(ws);
      else if (!aliveSockets.delete(ws)) ws.terminate();
      ws.ping();
    }
  }, PING_MS);
  pings.unref();

  async function decide(request: NodeRequest, message: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const decision = await decideUpgrade(app, request);
    if (isReply(decision)) {
      refuse(socket, decision);
      return;
    }
    if (socket.destroyed || !socket.readable || !socket.writable) {
      socket.destroy();
      closeUnopened(decision);
      return;
    }
    let isOpened = false;
    sockets.handleUpgrade(message, socket, head, (ws) => {
      isOpened = true;
      aliveSockets.add(ws);
      ws.on("pong", () => aliveSockets.add(ws));
      connectSocket(ws, decision);
    });
    // `ws` rejects a few headers that no other server checks.
    if (!isOpened) closeUnopened(decision);
  }

  function upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node has removed its own listener, and an unhandled error event ends the process.
    socket.off("error", drop).on("error", drop);
    const path = message.url?.replace(/^https?:\/\/[^/?#]*/i, "") ?? "/";
    const isOurs = path.startsWith(prefix);
    if (!isOurs && server.listenerCount("upgrade") > 1) return;
    if (!offersWebSocket(new NodeRequest(message)) && !hasBody(message)) {
      ignoreUpgrade(server, message, socket, head);
      return;
    }
    const refusal = hostFault(hostsOf(message));
    if (refusal) refuse(socket, refusal);
    else if (!isOurs) refuse(socket, fault(404, "Not found", "not_found", "no WebSocket is offered at this path"));
    else if (hasBody(message)) void refuseBody(app, message, socket);
    else void decide(new NodeRequest(message), message, socket, head);
  }

  function onListening(): void {
    const address = server.address();
    if (address !== null && typeof address === "object")
      app.listeningAt?.(reachableUrl(address.address, address.port, isSecure(server) ? "https" : "http"));
  }

  server.on("upgrade", upgrade);
  if (server.listening) onListening();
  else server.once("listening", onListening);
  return {
    close() {
      server.off("listening", onListening);
      server.off("upgrade", upgrade);
      clearInterval(pings);
      for (const ws of sockets.clients) {
        ws.close(1001, "the server is stopping");
        setTimeout(() => ws.terminate(), CLOSE_GRACE_MS).unref();
      }
      sockets.close();
    },
  };
}

/** Writes a complete HTTP response to a socket that has left the HTTP parser, and ends the socket. */
export function refuse(socket: Duplex, { status, headers, body = "" }: Reply): void {
  if (socket.destroyed) return;
  // A body of unknown length ends with the connection (RFC 9112 §6.3).
  const length = isInPieces(body) ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...headers, ...length, connection: "close" }).map(
    ([name, value]) => `${name}: ${value.replace(/[\r\n]/g, " ")}\r\n`,
  );
  if (socket instanceof Socket) socket.setTimeout(STALL_MS, () => socket.destroy());
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`);
  const end = (): void => void socket.destroy();
  // Node no longer limits this connection.
  const endSoon = (): void => void setTimeout(end, CLOSE_GRACE_MS).unref();
  pipeline(isInPieces(body) ? inTurns(body) : [body], socket).then(endSoon, end);
}

/** Destroys a socket whose connection has broken. */
function drop(this: Duplex): void {
  this.destroy();
}

/** True if a request is handled as an upgrade, which means that it offers a WebSocket and has no body. */
export function takesUpgrade(message: IncomingMessage): boolean {
  return offersWebSocket(new NodeRequest(message)) && !hasBody(message);
}

/**
 * Refuses a request with an offer and a body, on a server without the option to ignore the offer (see `serve`): the
 * body can no longer be read. If the application refuses the client or the path, that refusal takes precedence.
 */
async function refuseBody(app: WebApp, message: IncomingMessage, socket: Duplex): Promise<void> {
  const { url, headers } = new NodeRequest(message);
  const options = await app.handle({ method: "OPTIONS", url, headers, body: null }).catch(brokenApp);
  const detail = "send a request with a body without the Upgrade header";
  refuse(
    socket,
    options.status >= 400 ? options : fault(400, "The protocol is not offered", "upgrade_not_offered", detail),
  );
}

/**
 * Ignores an offer of another protocol, such as `h2c`, on a server without an option for that (see `serve`): Node has
 * taken the request out of its HTTP parser, so it is put back into the same socket.
 */
function ignoreUpgrade(server: Server, message: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = message;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!/^(upgrade|connection|http2-settings)$/i.test(rawHeaders[i]!))
      lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit(isSecure(server) ? "secureConnection" : "connection", socket);
}

function isSecure(server: Server): boolean {
  return "setSecureContext" in server;
}
