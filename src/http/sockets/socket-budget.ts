import { PerUser } from "../../application/user-limits/per-user.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Reply, Socket, SocketHandlers } from "../../ports/web.ts";
import type { RequestContext } from "../requests/request-context.ts";

/** Maximum number of open WebSockets. */
interface SocketLimits {
  readonly user: number;
  readonly server: number;
}

/** Maximum number of WebSockets on a runtime that cuts messages at their limit and closes silent connections. */
export const MAX_SOCKETS: SocketLimits = { user: 400, server: 2_000 };
/** Maximum number of WebSockets on a runtime that buffers messages of any size until they are complete. */
export const MAX_BUFFERING_SOCKETS: SocketLimits = { user: 16, server: 128 };

/** Counts the WebSockets of all routes, from their acceptance until they close. */
export class SocketBudget {
  readonly #users = new PerUser(MAX_SOCKETS.user);
  readonly #bufferingUsers = new PerUser(MAX_BUFFERING_SOCKETS.user);
  #openCount = 0;

  /**
   * Returns the reply of a route. If the route accepts a WebSocket, the socket counts towards the budget until it
   * closes.
   * @throws {Refusal} `server_busy`: the user or the server has too many open WebSockets
   */
  admit(reply: Reply | undefined, context: RequestContext): Reply | undefined {
    const { socketHandlers } = context;
    if (reply?.status !== 101 || !socketHandlers) return reply;
    const isBuffering = context.request.buffersMessages === true;
    const { user, server } = isBuffering ? MAX_BUFFERING_SOCKETS : MAX_SOCKETS;
    const users = isBuffering ? this.#bufferingUsers : this.#users;
    const release = this.#openCount < server ? users.take(context.caller.userId) : undefined;
    if (!release) {
      socketHandlers.close?.(NEVER_OPENED, 1006, "");
      context.socketHandlers = undefined;
      const subject = this.#openCount < server ? `you have ${user}` : `the server has ${server}`;
      throw new Refusal("server_busy", `${subject} WebSockets open, which is the limit; close one and try again`);
    }
    this.#openCount++;
    context.socketHandlers = withCount(socketHandlers, () => {
      this.#openCount--;
      release();
    });
    return reply;
  }
}

const NEVER_OPENED: Socket = { send() {}, bufferedAmount: 0, drained: async () => {}, close() {} };

/** The same handlers; `release` is called once, when the WebSocket has closed. */
function withCount(handlers: SocketHandlers, release: () => void): SocketHandlers {
  let isOpen = true;
  return {
    open: (socket) => handlers.open?.(socket),
    message: (socket, data) => handlers.message(socket, data),
    close(socket, code, reason) {
      if (isOpen) release();
      isOpen = false;
      handlers.close?.(socket, code, reason);
    },
  };
}
