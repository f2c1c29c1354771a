import type { WebSocket } from "ws";
import type { Socket, SocketHandlers } from "../../src/ports/web.ts";

/** Lets the handlers live on an open `ws` WebSocket. */
export function connectSocket(ws: WebSocket, handlers: SocketHandlers): void {
  let waiting: (() => void)[] = [];
  const release = (): void => {
    const released = waiting;
    waiting = [];
    for (const resolve of released) resolve();
  };
  const written = (): void => {
    if (ws.bufferedAmount === 0) release();
  };
  const socket: Socket = {
    send: (data) => {
      if (ws.readyState === ws.OPEN) ws.send(data, written);
    },
    get bufferedAmount() {
      return ws.bufferedAmount;
    },
    drained: () =>
      ws.bufferedAmount === 0 || ws.readyState !== ws.OPEN
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push(resolve)),
    close: (code, reason) => ws.close(code, reason),
  };
  ws.on("error", () => {}); // a broken frame or connection; `close` follows
  ws.on("message", (data: Buffer, isBinary: boolean) => {
    try {
      const { buffer, byteOffset, byteLength } = data;
      handlers.message(socket, isBinary ? new Uint8Array(buffer, byteOffset, byteLength) : data.toString());
    } catch {
      ws.close(1011, "internal error");
    }
  });
  ws.on("close", (code: number, reason: Buffer) => {
    release();
    handlers.close?.(socket, code, reason.toString());
  });
  handlers.open?.(socket);
}

/** Tells handlers that were promised a socket that it broke before it was open. */
export function neverOpened(handlers: SocketHandlers): void {
  const socket: Socket = { send() {}, bufferedAmount: 0, drained: async () => {}, close() {} };
  handlers.close?.(socket, 1006, "");
}
