import { isInPieces, toResponse } from "../../src/http/replies/reply.ts";
import type { Socket, SocketHandlers } from "../../src/ports/web.ts";
import { BUN_PATHS, type RoutedRequest } from "./bun-paths.ts";
import { BunRequest } from "./bun-request.ts";
import { closeUnopened } from "./close-unopened.ts";
import { atEdge } from "./edge.ts";
import { brokenApp, isReply } from "./fault.ts";
import { decideUpgrade, offersWebSocket } from "./handshake.ts";
import { hostFault } from "./host-fault.ts";
import {
  CLOSE_GRACE_MS,
  cannotListen,
  DEFAULT_HOSTNAME,
  DEFAULT_PORT,
  IDLE_SECONDS,
  type Listening,
  localUrl,
  MAX_MESSAGE_BYTES,
  PAUSED_PING_MS,
  reachableUrl,
  type ServedApp,
  type ServeOptions,
  SOCKET_IDLE_SECONDS,
  STALL_MS,
} from "./listening.ts";

export { CannotListen, type Listening, type ServedApp, type ServeOptions, type Tls } from "./listening.ts";

/** Resolution of Bun's timeouts, s: a connection may end up to one step early. */
const TIMEOUT_STEP_SECONDS = 4;
/** Maximum number of bytes queued on a WebSocket whose client does not read. */
const MAX_BACKPRESSURE_BYTES = 8 << 20;

// The part of Bun used here; its type package stays out of the published types.
interface BunSocket {
  readonly data: SocketState;
  binaryType: "nodebuffer" | "arraybuffer" | "uint8array";
  send(data: string | Uint8Array): number;
  getBufferedAmount(): number;
  close(code?: number, reason?: string): void;
  ping(): number;
  pause(): void;
  resume(): void;
}
interface BunServer {
  readonly port: number;
  upgrade(request: Request, options: { data: SocketState }): boolean;
  /** Closes the request's connection after this many seconds without traffic. */
  timeout(request: Request, seconds: number): void;
  stop(closeActiveConnections?: boolean): Promise<void>;
}
declare const Bun: { serve(options: object): BunServer };

/** State of one WebSocket. */
interface SocketState {
  readonly handlers: SocketHandlers;
  socket?: Socket;
  drainWaiters: (() => void)[];
  /** Timer for the pings sent while the socket is paused. */
  pingTimer?: ReturnType<typeof setInterval> | undefined;
}

/**
 * Serves an application with `Bun.serve`, WebSockets included: `await serve(createRingport(), { port: 8080 })`.
 * @throws {CannotListen} the port is in use or unavailable, or the certificate cannot be used
 */
export async function serve(servedApp: ServedApp, options: ServeOptions = {}): Promise<Listening> {
  const app = atEdge(servedApp, options);
  const { port = DEFAULT_PORT, hostname = DEFAULT_HOSTNAME, stallMs = STALL_MS, tls } = options;
  if (tls) (await import("./tls-fault.ts")).checkTls(tls);
  const scheme = tls ? "https" : "http";
  const openSockets = new Set<BunSocket>();

  async function respond(request: RoutedRequest, bun: BunServer): Promise<Response | undefined> {
    const appRequest = new BunRequest(request);
    const refusal = hostFault(request.headers.get("host"));
    if (refusal) return appRequest.respond(refusal);
    const decision = offersWebSocket(request)
      ? await decideUpgrade(app, appRequest)
      : await app.handle(appRequest).catch(brokenApp);
    if (isReply(decision)) {
      if (isInPieces(decision.body)) bun.timeout(request, Math.ceil(stallMs / 1000) + TIMEOUT_STEP_SECONDS);
      return appRequest.respond(decision);
    }
    if (bun.upgrade(request, { data: { handlers: decision, drainWaiters: [] } })) return undefined;
    closeUnopened(decision);
    return new Response(null, { status: 400 });
  }

  let server: BunServer;
  try {
    server = Bun.serve({
      port,
      hostname,
      ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
      idleTimeout: IDLE_SECONDS,
      // The application counts a body while reading it, and names the exceeded limit.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // Without this, `development: false` lets a second server take half of the first one's connections.
      reusePort: false,
      error: () => toResponse(brokenApp()),
      routes: Object.fromEntries(BUN_PATHS.map((path) => [path, respond])),
      fetch: respond,
      websocket: socketOptions(openSockets),
    });
  } catch (error) {
    throw cannotListen(hostname, port, error);
  }
  const boundPort = server.port;
  app.listeningAt?.(reachableUrl(hostname, boundPort, scheme));
  let closePromise: Promise<void> | undefined;
  return {
    url: localUrl(hostname, boundPort, scheme),
    port: boundPort,
    close() {
      closePromise ??= (async () => {
        for (const socket of openSockets) socket.close(1001, "the server is stopping");
        await Promise.race([server.stop(), new Promise((resolve) => setTimeout(resolve, CLOSE_GRACE_MS))]);
        await server.stop(true);
      })();
      return closePromise;
    },
  };
}

function socketOptions(openSockets: Set<BunSocket>): object {
  return {
    maxPayloadLength: MAX_MESSAGE_BYTES,
    backpressureLimit: MAX_BACKPRESSURE_BYTES,
    idleTimeout: SOCKET_IDLE_SECONDS,
    sendPings: true,
    perMessageDeflate: false,
    open(ws: BunSocket) {
      openSockets.add(ws);
      ws.binaryType = "uint8array"; // a separate array for each message, which need not be copied
      ws.data.socket = socketOf(ws);
      ws.data.handlers.open?.(ws.data.socket);
    },
    message(ws: BunSocket, data: string | Uint8Array) {
      try {
        if (ws.data.socket) ws.data.handlers.message(ws.data.socket, data);
      } catch {
        ws.close(1011, "internal error");
      }
    },
    drain(ws: BunSocket) {
      if (ws.getBufferedAmount() === 0) release(ws);
    },
    close(ws: BunSocket, code: number, reason: string) {
      openSockets.delete(ws);
      stopPings(ws);
      release(ws);
      if (ws.data.socket) ws.data.handlers.close?.(ws.data.socket, code, reason);
    },
  };
}

function socketOf(ws: BunSocket): Socket {
  return {
    send: (data) => void ws.send(data),
    get bufferedAmount() {
      return ws.getBufferedAmount();
    },
    drained: () =>
      ws.getBufferedAmount() === 0 ? Promise.resolve() : new Promise((resolve) => ws.data.drainWaiters.push(resolve)),
    close: (code, reason) => ws.close(code, reason),
    pause() {
      ws.pause();
      ws.data.pingTimer ??= setInterval(() => ws.ping(), PAUSED_PING_MS);
    },
    resume() {
      stopPings(ws);
      ws.resume();
    },
  };
}

function stopPings({ data }: BunSocket): void {
  clearInterval(data.pingTimer);
  data.pingTimer = undefined;
}

function release(ws: BunSocket): void {
  const waiters = ws.data.drainWaiters;
  ws.data.drainWaiters = [];
  for (const resolve of waiters) resolve();
}
