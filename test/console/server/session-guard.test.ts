import { expect, test } from "vitest";
import { CHECK_MS, SessionGuard } from "../../../adapters/console/server/session-guard.ts";
import type { Socket } from "../../../src/ports/web.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

/** A session's WebSocket, with the messages that its handlers and its peer have received. */
function scene() {
  const system = new ManualSystem();
  const session = { isActive: true };
  const receivedMessages: unknown[] = [];
  const sentMessages: unknown[] = [];
  let guardedSocket: Socket | undefined;
  const socket: Socket = {
    send: (data) => void sentMessages.push(data),
    close: (code) => void sentMessages.push(code),
    drained: async () => {},
    bufferedAmount: 0,
  };
  const handlers = new SessionGuard(async () => session.isActive, system).socket({
    open: (opened) => {
      guardedSocket = opened;
    },
    message: (_, data) => void receivedMessages.push(data),
    close: (_, code) => void receivedMessages.push(code),
  });
  handlers.open?.(socket);
  return {
    system,
    session,
    received: receivedMessages,
    sent: sentMessages,
    socket,
    handlers,
    send: (data: string) => guardedSocket?.send(data),
  };
}

test("a WebSocket passes no message after its session has ended, even if the peer keeps it open", async () => {
  const { system, session, received, sent, socket, handlers, send } = scene();
  handlers.message(socket, "before");
  send("before");
  session.isActive = false;
  await system.advance(CHECK_MS);
  handlers.message(socket, "the last one");
  await expect.poll(() => sent).toEqual(["before", 4001]);
  handlers.message(socket, "after");
  send("after");
  expect(received).toEqual(["before", "the last one", 4001]);
  expect(sent).toEqual(["before", 4001]);
  expect(system.waiting).toBe(0);
  handlers.close?.(socket, 4001, "");
  expect(received).toHaveLength(3);
});

test("a WebSocket that its peer closes is closed once", async () => {
  const { system, session, received, sent, socket, handlers } = scene();
  session.isActive = false;
  await system.advance(CHECK_MS);
  handlers.message(socket, "bye");
  handlers.close?.(socket, 1000, "");
  await system.advance(CHECK_MS);
  expect([received, sent]).toEqual([["bye", 1000], []]);
});
