import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "ringport/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

/** A client with valid tickets for a server whose WebSocket upgrades the test handles. */
async function clientOf(upgrade: (socket: { end(text: string): void }) => void) {
  const server = createServer().on("upgrade", (_, socket) => {
    onTestFinished(() => void socket.destroy());
    upgrade(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return createClient({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: "t",
    fetch: async ({ method }) =>
      method === "POST"
        ? Response.json({ ticket: "abc", expires_at: "", url: "" }, { status: 201 })
        : Response.json({ code: "call_ended", detail: "the call is COMPLETED" }, { status: 409 }),
  });
}

describe("listening over the ws package's WebSocket", () => {
  test("rejects with the server's reason", async () => {
    const client = await clientOf((socket) => socket.end("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n"));
    await expect(client.listen("call_1", { WebSocket })).rejects.toMatchObject({ code: "call_ended" });
  });

  test("rejects with its signal's reason if that aborts before it is open", async () => {
    const stop = new AbortController();
    const client = await clientOf(() => stop.abort(new Error("enough")));
    await expect(client.listen("call_1", { WebSocket, signal: stop.signal })).rejects.toThrow("enough");
  });
});
