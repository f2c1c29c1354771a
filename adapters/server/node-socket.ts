import type { WebSocket } from "ws";
import type { Socket, SocketHandlers } from "../../src/ports/web.ts";
import { PAUSED_PING_MS } from "./listening.ts";

/** Connects handlers to an open `ws` WebSocket. */
export function connectSocket(ws: WebSocket, handlers: SocketHandlers): void {
  let drainWaiters: (() => void)[] = [];
  const release = (): void => {
    const waiters = drainWaiters;
    drainWaiters = [];
    for (const resolve of waiters) resolve();
  };
  const onWritten = (): void => {
    if (ws.bufferedAmount === 0) release();
  };
  let pings: NodeJS.Timeout | undefined;
  const resume = (): void => {
    clearInterval(pings);
    pings = undefined;
    ws.resume();
  };
  const socket: Socket = {
    send: (data) => {
      if (ws.readyState === ws.OPEN) ws.send(data, onWritten);
    },
    get bufferedAmount() {
      return ws.bufferedAmount;
    },
    drained: () =>
      ws.bufferedAmount === 0 || ws.readyState !== ws.OPEN
        ? Promise.resolve()
        : new Promise((resolve) => drainWaiters.push(resolve)),
    close: (code, reason) => ws.close(code, reason),
    pause() {
      ws.pause();
      pings ??= setInterval(() => ws.ping(), PAUSED_PING_MS);
    },
    resume,
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
    clearInterval(pings);
    handlers.close?.(socket, code, reason.toString());
  });
  handlers.open?.(socket);
}
