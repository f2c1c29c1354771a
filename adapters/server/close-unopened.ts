import type { Socket, SocketHandlers } from "../../src/ports/web.ts";

/** Notifies handlers that were promised a socket if it fails before it is open. */
export function closeUnopened(handlers: SocketHandlers): void {
  const socket: Socket = { send() {}, bufferedAmount: 0, drained: async () => {}, close() {} };
  handlers.close?.(socket, 1006, "");
}
