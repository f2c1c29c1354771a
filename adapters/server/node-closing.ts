import type { Socket } from "node:net";

const closings = new WeakMap<Socket, AbortSignal>();

/** A signal that is aborted when the connection closes. All requests of the connection share it. */
export function closingOf(socket: Socket): AbortSignal {
  const known = closings.get(socket);
  if (known) return known;
  const closing = new AbortController();
  const close = (): void => closing.abort(new Error("the client's connection has closed"));
  if (socket.destroyed) close();
  else socket.once("close", close);
  closings.set(socket, closing.signal);
  return closing.signal;
}
