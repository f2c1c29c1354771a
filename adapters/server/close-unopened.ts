import type { Socket, SocketHandlers } from "../../src/ports/web.ts";

/** Notifies handlers if the socket that they were promised fails before it opens. */
export function closeUnopened(handlers: SocketHandlers): void {
  const socket: Socket = { send() {}, bufferedAmount: 0, drained: async () => {}, close() {} };
  handlers.close?.(socket, 1006, "");
}
