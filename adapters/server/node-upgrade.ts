import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Reply } from "../../src/ports/web.ts";
import { brokenApp, fault, isReply } from "./fault.ts";
import { handshakeFault } from "./handshake.ts";
import { CLOSE_GRACE_MS, MAX_MESSAGE_BYTES, reachableUrl, type ServedApp } from "./listening.ts";
import { neverOpened } from "./never-opened.ts";
import { hasBody, NodeRequest } from "./node-request.ts";
import { connectSocket } from "./node-socket.ts";

/** Options of {@link attachUpgrade}. */
export interface UpgradeOptions {
  /** Upgrades of paths below this one are answered; all others are left to the host application. Default: `/v1/`. */
  readonly prefix?: string | undefined;
}

/** How often each WebSocket is asked whether it is alive, ms; one that stays silent until the next time is ended. */
const PING_MS = 5_000;

/**
 * Answers the WebSockets of a Node server: `attachUpgrade(server, ringport, { prefix: "/api/v1/" })`. It also tells the
 * application where that server listens, which is where QR codes lead unless `publicUrl` says otherwise.
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
  const alive = new WeakSet<WebSocket>();
  const pings = setInterval(() => {
    for (const ws of sockets.clients) {
      // The answers of one that is paused wait among what was not read.
      if (ws.isPaused) alive.add(ws);
      else if (!alive.delete(ws)) ws.terminate();
      ws.ping();
    }
  }, PING_MS);
  pings.unref();

  async function decide(request: NodeRequest, message: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const decision = await app.upgrade(request).catch(brokenApp);
    if (isReply(decision)) {
      refuse(socket, decision);
      return;
    }
    if (socket.destroyed || !socket.readable || !socket.writable) {
      socket.destroy();
      neverOpened(decision);
      return;
    }
    let opened = false;
    sockets.handleUpgrade(message, socket, head, (ws) => {
      opened = true;
      alive.add(ws);
      ws.on("pong", () => alive.add(ws));
      connectSocket(ws, decision);
    });
    // `ws` finds fault with a few headers that nobody else looks at.
    if (!opened) neverOpened(decision);
  }

  function upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = message.url?.replace(/^https?:\/\/[^/?#]*/i, "") ?? "/";
    if (!path.startsWith(prefix)) return;
    if (!offersWebSocket(message)) {
      withoutUpgrade(server, message, socket, head);
      return;
    }
    socket.on("error", () => socket.destroy());
    const request = new NodeRequest(message);
    const broken = handshakeFault(request);
    if (broken) refuse(socket, broken);
    else void decide(request, message, socket, head);
  }

  function listening(): void {
    const address = server.address();
    if (address !== null && typeof address === "object") app.listeningAt?.(reachableUrl(address.address, address.port));
  }

  server.on("upgrade", upgrade);
  if (server.listening) listening();
  else server.once("listening", listening);
  return {
    close() {
      server.off("listening", listening);
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

/** Writes a whole HTTP answer to a socket that has left the HTTP parser, and ends it. */
export function refuse(socket: Duplex, { status, headers, body = "" }: Reply): void {
  if (socket.destroyed) return;
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    refuse(socket, notOffered());
    return;
  }
  const all = { ...headers, "content-length": String(Buffer.byteLength(body)), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value.replace(/[\r\n]/g, " ")}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`);
  socket.end(body);
  // Nobody else counts this connection any more.
  setTimeout(() => socket.destroy(), CLOSE_GRACE_MS).unref();
}

function notOffered(): Reply {
  const detail = "only WebSockets are offered here; send the request without the Upgrade header";
  return fault(400, "The protocol is not offered", "upgrade_not_offered", detail);
}

/** Whether a request offers the one protocol that is taken up here; every other offer is ignored (RFC 9110 §7.8). */
export function offersWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/**
 * Ignores the offer of another protocol, such as `h2c`, on a server that could not be told to (see `serve`): Node has
 * taken the request out of its HTTP parser, so it is put back in front of the same socket.
 */
function withoutUpgrade(server: Server, message: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (hasBody(message)) {
    refuse(socket, notOffered());
    return;
  }
  const { method, url, httpVersion, rawHeaders } = message;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!/^(upgrade|connection|http2-settings)$/i.test(rawHeaders[i]!))
      lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
