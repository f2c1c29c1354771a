import type { Reply, RequestLike } from "../../src/ports/web.ts";
import { fault } from "./fault.ts";

const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** What is wrong with a WebSocket handshake (RFC 6455 §4.2.1), before the application promises anything. */
export function handshakeFault({ method, headers }: Pick<RequestLike, "method" | "headers">): Reply | undefined {
  if (method !== "GET")
    return fault(405, "The method is not allowed here", "method_not_allowed", "a WebSocket begins with GET");
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
