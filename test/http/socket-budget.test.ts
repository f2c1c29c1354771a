import { expect, test } from "vitest";
import type { NetworkPages } from "../../src/ports/network-pages.ts";
import type { Socket, SocketHandlers } from "../../src/ports/web.ts";
import { requestOf } from "./support/ask.ts";
import { serve } from "./support/fakes.ts";

const SOCKET: Socket = { send() {}, bufferedAmount: 0, drained: async () => {}, close() {} };

/** An application with phones; the token is the user. */
function servePhones() {
  let openCount = 0;
  const pages: NetworkPages = {
    prefix: "simulator",
    page: async () => undefined,
    phone: () => {
      openCount++;
      return { message() {}, close: () => void openCount-- };
    },
  };
  const authenticate = async (token: string) => ({ userId: token });
  const { app } = serve({ http: { pages: [pages], authenticate } });
  const connect = (user: string, buffersMessages?: boolean) => {
    const request = requestOf({ path: "/simulator/phones/+12025550147", token: user });
    return app.upgrade({ ...request, buffersMessages });
  };
  return { connect, open: () => openCount };
}

const isAccepted = (decision: object): decision is SocketHandlers => !("status" in decision);

test.each([
  ["a runtime that bounds messages", false, 400, 2_000],
  ["a runtime that buffers whole messages", true, 16, 128],
])("on %s, the WebSockets of a user and of the server are limited", async (_, buffersMessages, user, server) => {
  const { connect, open } = servePhones();
  const handlers: SocketHandlers[] = [];
  for (let n = 0; n < server; n++) {
    const decision = await connect(`usr_${Math.floor(n / user)}`, buffersMessages);
    if (isAccepted(decision)) handlers.push(decision);
    if (n === user - 1) expect(await connect("usr_0", buffersMessages)).toMatchObject({ status: 503 });
  }
  expect([handlers.length, open()]).toEqual([server, server]);
  expect(await connect("usr_other", buffersMessages)).toMatchObject({ status: 503 });
  expect(open()).toBe(server);

  // A socket that closes, however often that is reported, makes room for one other.
  handlers[0]!.close?.(SOCKET, 1000, "");
  handlers[0]!.close?.(SOCKET, 1000, "");
  expect(isAccepted(await connect("usr_0", buffersMessages))).toBe(true);
  expect(await connect("usr_other", buffersMessages)).toMatchObject({ status: 503 });
});
