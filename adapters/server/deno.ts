import { toResponse } from "../../src/http/replies/reply.ts";
import type { Reply, Socket, SocketHandlers } from "../../src/ports/web.ts";
import { closeUnopened } from "./close-unopened.ts";
import { atEdge } from "./edge.ts";
import { brokenApp, isReply } from "./fault.ts";
import { ServerRequest } from "./fetch-request.ts";
import { decideUpgrade, offersWebSocket } from "./handshake.ts";
import { hostFault } from "./host-fault.ts";
import { linger } from "./lingering.ts";
import {
  CLOSE_GRACE_MS,
  cannotListen,
  DEFAULT_HOSTNAME,
  DEFAULT_PORT,
  type Listening,
  localUrl,
  MAX_MESSAGE_BYTES,
  reachableUrl,
  type ServedApp,
  type ServeOptions,
  SOCKET_IDLE_SECONDS,
  STALL_MS,
} from "./listening.ts";

export { CannotListen, type Listening, type ServedApp, type ServeOptions, type Tls } from "./listening.ts";

/** Interval for polling a WebSocket's send buffer, ms: Deno has no event for an empty buffer. */
const DRAIN_POLL_MS = 5;
/** Interval at which a closing server checks if all responses and connections have ended, ms. */
const CLOSE_POLL_MS = 20;

/** Longest time from the response until a WebSocket opens, ms. */
const OPEN_TIMEOUT_MS = 5_000;
/** Close code for a broken connection (RFC 6455 §7.1.5). */
const ABNORMAL = 1006;

// The part of Deno used here; its type package stays out of the published types.
interface DenoServer {
  readonly addr: { readonly port: number };
  readonly finished: Promise<void>;
}
/** Details of a request, as reported by `Deno.serve`. */
interface DenoServeInfo {
  /** Settles when the response has been sent, or cannot be sent. */
  readonly completed: Promise<void>;
}
interface DenoNamespace {
  serve(options: object, handler: (request: Request, info: DenoServeInfo) => Promise<Response>): DenoServer;
  upgradeWebSocket(request: Request, options: object): { socket: WebSocket; response: Response };
}
const { Deno } = globalThis as unknown as { Deno: DenoNamespace };

/**
 * Serves an application with `Deno.serve`, WebSockets included: `await serve(createRingport(), { port: 8080 })`.
 * @throws {CannotListen} the port is in use or unavailable, or the certificate cannot be used
 */
export async function serve(servedApp: ServedApp, options: ServeOptions = {}): Promise<Listening> {
  const app = atEdge(servedApp, options);
  const { port = DEFAULT_PORT, hostname = DEFAULT_HOSTNAME, stallMs = STALL_MS, tls } = options;
  if (tls) (await import("./tls-fault.ts")).checkTls(tls);
  const scheme = tls ? "https" : "http";
  const openSockets = new Set<WebSocket>();
  const shutdown = new AbortController();
  let pendingReplies = 0;

  async function respond(request: Request): Promise<Response> {
    const appRequest = new DenoRequest(request);
    const refusal = hostFault(request.headers.get("host"));
    if (refusal) return appRequest.respond(refusal, stallMs);
    const decision = offersWebSocket(request)
      ? await decideUpgrade(app, appRequest)
      : await app.handle(appRequest).catch(brokenApp);
    if (isReply(decision)) return appRequest.respond(decision, stallMs);
    try {
      const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: SOCKET_IDLE_SECONDS });
      connect(socket, decision, openSockets);
      return response;
    } catch {
      closeUnopened(decision);
      return new Response(null, { status: 400 });
    }
  }

  let server: DenoServer;
  try {
    const callbacks = { onListen() {}, onError: () => toResponse(brokenApp()) };
    const certificate = tls && { cert: tls.cert, key: tls.key };
    server = Deno.serve(
      { port, hostname, ...certificate, signal: shutdown.signal, ...callbacks },
      (request, { completed }) => {
        pendingReplies++;
        const finish = (): void => void pendingReplies--;
        completed.then(finish, finish);
        return respond(request);
      },
    );
  } catch (error) {
    throw cannotListen(hostname, port, error);
  }
  const boundPort = server.addr.port;
  app.listeningAt?.(reachableUrl(hostname, boundPort, scheme));
  let closePromise: Promise<void> | undefined;
  return {
    url: localUrl(hostname, boundPort, scheme),
    port: boundPort,
    close() {
      closePromise ??= (async () => {
        for (const socket of openSockets) socket.close(1001, "the server is stopping");
        await waitUntil(() => pendingReplies === 0 && openSockets.size === 0, CLOSE_GRACE_MS);
        // Deno's `shutdown` waits for all responses without a limit, and cannot be interrupted.
        shutdown.abort();
        await server.finished;
      })();
      return closePromise;
    },
  };
}

async function waitUntil(condition: () => boolean, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition() && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
}

function connect(ws: WebSocket, handlers: SocketHandlers, openSockets: Set<WebSocket>): void {
  ws.binaryType = "arraybuffer";
  const socket: Socket = {
    send(data) {
      if (ws.readyState === WebSocket.OPEN) ws.send(data as string | Uint8Array<ArrayBuffer>);
    },
    get bufferedAmount() {
      return ws.bufferedAmount;
    },
    drained: () =>
      new Promise((resolve) => {
        const check = (): void => {
          if (ws.readyState !== WebSocket.OPEN || ws.bufferedAmount === 0) resolve();
          else setTimeout(check, DRAIN_POLL_MS);
        };
        check();
      }),
    close: (code, reason) => ws.close(code, reason),
  };
  // No event reports a client that disconnects before the response has reached it.
  const graceTimer = setTimeout(() => {
    ws.onopen = () => ws.close();
    closeUnopened(handlers);
  }, OPEN_TIMEOUT_MS);
  ws.onopen = () => {
    clearTimeout(graceTimer);
    openSockets.add(ws);
    handlers.open?.(socket);
  };
  let hasFailed = false;
  ws.onerror = () => {
    hasFailed = true; // `close` follows, with any code; after a ping without a pong, it follows twice
  };
  ws.onmessage = (event) => {
    const data = event.data as string | ArrayBuffer;
    const size = typeof data === "string" ? data.length : data.byteLength;
    try {
      if (size > MAX_MESSAGE_BYTES) ws.close(1009, "the message is too large");
      else handlers.message(socket, typeof data === "string" ? data : new Uint8Array(data));
    } catch {
      ws.close(1011, "internal error");
    }
  };
  ws.onclose = ({ code, reason }) => {
    // If the socket never opened, the timer reports that.
    if (openSockets.delete(ws)) handlers.close?.(socket, hasFailed ? ABNORMAL : code, reason);
  };
}

/** A request from `Deno.serve`. */
class DenoRequest extends ServerRequest {
  /** True because Deno does not limit a message's size, and delivers messages only as a whole. */
  readonly buffersMessages = true;

  /**
   * The response to this request. After a response sent before the end of a body, Deno keeps the connection open for as
   * long as the client does. It closes the connection only after a response whose stream fails while no body is being
   * read. Therefore a refusal is sent in full, with its length, and its stream fails later, once the client has read
   * it.
   * @param stallMs longest time without the client reading a byte of the response
   */
  respond(reply: Reply, stallMs: number): Response {
    const { status, headers, body } = reply;
    if (status < 400 || typeof body !== "string" || !this.#hasBody || !this.bodyReader())
      return toResponse(reply, stallMs);
    const bytes = new TextEncoder().encode(body);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes);
        linger(() => controller.error(new Error("the client may still be sending its body")));
      },
    });
    const length = String(bytes.length);
    return new Response(stream, { status, headers: { ...headers, "content-length": length, connection: "close" } });
  }

  /** True if the client sends a body: Deno creates an empty one for a DELETE without a body. */
  get #hasBody(): boolean {
    return this.headers.has("transfer-encoding") || Number(this.headers.get("content-length")) > 0;
  }
}
