import type { Reply, RequestLike, SocketHandlers, WebApp } from "../../src/ports/web.ts";
import { closeUnopened } from "./close-unopened.ts";
import { brokenApp, fault, isReply } from "./fault.ts";

const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** True if a request offers an upgrade to WebSocket; other offers are ignored (RFC 9110 §7.8). */
export function offersWebSocket({ method, headers }: Pick<RequestLike, "method" | "headers">): boolean {
  return method === "GET" && headers.get("upgrade")?.toLowerCase() === "websocket";
}

/**
 * Decides on an upgrade request. The application decides first; the handshake is checked only for requests that it
 * accepts.
 */
export async function decideUpgrade(app: WebApp, request: RequestLike): Promise<Reply | SocketHandlers> {
  const decision = await app.upgrade(request).catch(brokenApp);
  if (isReply(decision)) return decision;
  const refusal = handshakeFault(request);
  if (refusal) closeUnopened(decision);
  return refusal ?? decision;
}

/** Fault of a WebSocket handshake (RFC 6455 §4.2.1). */
function handshakeFault({ headers }: Pick<RequestLike, "headers">): Reply | undefined {
  const version = headers.get("sec-websocket-version");
  if (version !== "13" && version !== "8") {
    const reply = fault(426, "The WebSocket version is not supported", "upgrade_required", "use WebSocket version 13");
    return { ...reply, headers: { ...reply.headers, "sec-websocket-version": "13, 8" } };
  }
  if (KEY.test(headers.get("sec-websocket-key") ?? "")) return undefined;
  return fault(
    400,
    "The WebSocket handshake is broken",
    "bad_handshake",
    "Sec-WebSocket-Key must be 16 bytes in Base64",
  );
}
