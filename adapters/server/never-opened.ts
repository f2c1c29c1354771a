import type { Socket, SocketHandlers } from "../../src/ports/web.ts";

/** Tells handlers that were promised a socket that it broke before it was open. */
export function neverOpened(handlers: SocketHandlers): void {
  const socket: Socket = { send() {}, bufferedAmount: 0, drained: async () => {}, close() {} };
  handlers.close?.(socket, 1006, "");
}
