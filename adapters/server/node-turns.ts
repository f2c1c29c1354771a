import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TurnBudget } from "../../src/base/turn-budget.ts";

/** Maximum number of requests waiting for their turn on one connection; a connection with more is closed. */
const MAX_WAITING = 100;

/** End of a connection's latest response, number of waiting requests, and state of the connection. */
interface Turns {
  last: Promise<void>;
  waitingCount: number;
  isEnding: boolean;
}

/** One connection is closed per turn of the event loop: Node fails all of its requests. */
const endings = new TurnBudget(1);
const connections = new WeakMap<Socket, Turns>();
/** Responses that have had their turn: a program may pass the same response to several handlers. */
const knownResponses = new WeakSet<ServerResponse>();

/**
 * Resolves when the connection's earlier responses have been written (RFC 9112 §9.3.2); with false if the connection
 * has closed by then. Node hands over all pipelined requests at once, even if the client reads no response.
 */
export async function turnOf({ socket }: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const turns = connections.get(socket) ?? { last: Promise.resolve(), waitingCount: 0, isEnding: false };
  if (turns.isEnding || socket.destroyed) return false; // Node hands over the rest of the data it has read
  if (knownResponses.has(response)) return !response.closed;
  knownResponses.add(response);
  connections.set(socket, turns);
  if (turns.waitingCount >= MAX_WAITING) {
    turns.isEnding = true;
    socket.pause();
    await endings.take(1);
    socket.destroy();
    return false;
  }
  const previous = turns.last;
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  turns.last = promise;
  turns.waitingCount++;
  await previous;
  turns.waitingCount--;
  response.once("close", finish);
  if (!turns.isEnding && !socket.destroyed && !response.closed) return true;
  finish();
  return false;
}
