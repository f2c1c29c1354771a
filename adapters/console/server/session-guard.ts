import type { System } from "../../../src/ports/system.ts";
import type { Socket, SocketHandlers } from "../../../src/ports/web.ts";

/** Minimum time between two checks of a session, ms. */
export const CHECK_MS = 1_000;
/** Interval for checking a silent WebSocket, ms. */
export const SILENT_CHECK_MS = 10_000;
/** Close code for a WebSocket whose session has ended; the same as for a revoked token. */
export const SESSION_ENDED = 4001;
const ENDED_REASON = "the session has ended";

/**
 * Ends a session's open streams once the session has ended. The session is checked whenever data passes, at most once a
 * second; a timer checks it for a silent WebSocket, and event streams have a heartbeat. While the session cannot be
 * checked, streams continue.
 */
export class SessionGuard {
  readonly #isSignedIn: () => Promise<boolean>;
  readonly #system: Pick<System, "monotonic" | "after">;
  #checkedAt: number;

  constructor(isSignedIn: () => Promise<boolean>, system: Pick<System, "monotonic" | "after">) {
    this.#isSignedIn = isSignedIn;
    this.#system = system;
    this.#checkedAt = system.monotonic();
  }

  /** The pieces of a body, until the session ends. */
  async *body(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      if (this.#isDue() && !(await this.#check())) return;
      yield piece;
    }
  }

  /**
   * Handlers for a WebSocket that is closed when the session ends. After that, they get no messages, even if a peer
   * does not reply to the close and continues to send.
   */
  socket(handlers: SocketHandlers): SocketHandlers {
    let guardedSocket: Socket | undefined;
    let stopTimer = (): void => {};
    let isEnded = false;
    const end = (socket: Socket, code: number, reason: string): void => {
      if (isEnded) return;
      isEnded = true;
      stopTimer();
      handlers.close?.(guard(socket), code, reason);
    };
    const checkIfDue = (socket: Socket): void => {
      if (isEnded || !this.#isDue()) return;
      void this.#check().then((signedIn) => {
        if (signedIn || isEnded) return;
        end(socket, SESSION_ENDED, ENDED_REASON);
        socket.close(SESSION_ENDED, ENDED_REASON);
      });
    };
    const guard = (socket: Socket): Socket => {
      guardedSocket ??= {
        send(data) {
          checkIfDue(socket);
          if (!isEnded) socket.send(data);
        },
        get bufferedAmount() {
          return socket.bufferedAmount;
        },
        drained: () => socket.drained(),
        close: (code, reason) => socket.close(code, reason),
        ...(socket.pause && { pause: () => socket.pause?.() }),
        ...(socket.resume && { resume: () => socket.resume?.() }),
      };
      return guardedSocket;
    };
    const checkLater = (socket: Socket): void => {
      stopTimer = this.#system.after(SILENT_CHECK_MS, () => {
        checkIfDue(socket);
        checkLater(socket);
      });
    };
    return {
      open: (socket) => {
        checkLater(socket);
        handlers.open?.(guard(socket));
      },
      message(socket, data) {
        checkIfDue(socket);
        if (!isEnded) handlers.message(guard(socket), data);
      },
      close: end,
    };
  }

  #isDue(): boolean {
    const now = this.#system.monotonic();
    if (now - this.#checkedAt < CHECK_MS) return false;
    this.#checkedAt = now;
    return true;
  }

  #check(): Promise<boolean> {
    return this.#isSignedIn().catch(() => true);
  }
}
