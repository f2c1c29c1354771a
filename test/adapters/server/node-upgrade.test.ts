import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { attachUpgrade, type Listening, serve } from "../../../adapters/server/node.ts";
import type { RequestLike, Socket, SocketHandlers } from "../../../src/ports/web.ts";
import { type FakeHandlers, fakeApp, textReply } from "./fake-app.ts";
import { sendRaw } from "./raw.ts";

const onNode = !("Bun" in globalThis || "Deno" in globalThis);
const listenings: Listening[] = [];

afterEach(async () => {
  await Promise.all(listenings.splice(0).map((server) => server.close()));
});

async function serveUpgrade(upgrade: NonNullable<FakeHandlers["upgrade"]>): Promise<Listening> {
  const listening = await serve(fakeApp({ upgrade }), { port: 0 });
  listenings.push(listening);
  return listening;
}

const HANDSHAKE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** A WebSocket handshake for any request target, as bytes. */
const handshakeFor = (target: string): string =>
  `GET ${target} HTTP/1.1\r\n${Object.entries({ host: "x", ...HANDSHAKE })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;

/** Targets other than paths. */
const UNUSUAL_TARGETS = ["*", "http://h?x", "ftp://h/x"];

/** The response to a handshake, with its body. */
async function refusal(port: number, headers: Record<string, string> = HANDSHAKE): Promise<[IncomingMessage, string]> {
  const clientRequest = request({ port, path: "/v1/calls/x/stream", headers }).end();
  const [response] = (await once(clientRequest, "response")) as [IncomingMessage];
  return [response, await textOf(response)];
}

async function textOf(message: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of message) body += piece;
  return body;
}

describe.skipIf(!onNode)("WebSockets on Node (skipped elsewhere: Bun and Deno have their own adapters)", () => {
  test("a refusal is sent completely before the handshake", async () => {
    const { port } = await serveUpgrade(async ({ url, headers }) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return textReply(401, `${new URL(url).pathname} ${headers.get("upgrade")}`, { "www-authenticate": "Bearer" });
    });
    const [response, body] = await refusal(port);
    expect(response.statusCode).toBe(401);
    expect(response.headers).toMatchObject({ "www-authenticate": "Bearer", connection: "close" });
    expect(body).toBe("/v1/calls/x/stream websocket");
  });

  test("a broken handshake is refused after the application accepts it, and logged", async () => {
    const closeCodes: number[] = [];
    const { port } = await serveUpgrade(() => ({ message() {}, close: (_, code) => void closeCodes.push(code) }));
    expect((await refusal(port, { ...HANDSHAKE, "sec-websocket-key": "short" }))[0].statusCode).toBe(400);
    expect((await refusal(port, { ...HANDSHAKE, "sec-websocket-version": "7" }))[0].statusCode).toBe(426);
    expect(closeCodes).toEqual([1006, 1006]);
  });

  test("a refusal in pieces is sent completely", async () => {
    async function* pieces() {
      for (const text of ["one ", "after ", "the other"]) yield Buffer.from(text);
    }
    const { port } = await serveUpgrade(() => ({ status: 200, headers: {}, body: pieces() }));
    expect((await refusal(port))[1]).toBe("one after the other");
  });

  test("text and bytes are sent both ways, and the close code arrives", async () => {
    const closeEvents: [number, string][] = [];
    const echo: SocketHandlers = {
      open: (socket) => socket.send("hello"),
      message: (socket, data) => (data === "end" ? socket.close(4001, "ended") : socket.send(data)),
      close: (_, code, reason) => void closeEvents.push([code, reason]),
    };
    const { url } = await serveUpgrade(() => echo);
    const ws = new WebSocket(url.replace("http", "ws"));
    const receivedMessages: (string | Buffer)[] = [];
    ws.on("message", (data: Buffer, isBinary) => receivedMessages.push(isBinary ? data : data.toString()));
    await once(ws, "open");
    ws.send(Uint8Array.of(1, 2, 3));
    ws.send("text");
    ws.send("end");
    const [code, reason] = (await once(ws, "close")) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([4001, "ended"]);
    expect(receivedMessages).toEqual(["hello", Buffer.from([1, 2, 3]), "text"]);
    await expect.poll(() => closeEvents).toEqual([[4001, "ended"]]);
  });

  test("drained() waits for a slow client and resolves when it reads again", async () => {
    let socket: Socket | undefined;
    const { url } = await serveUpgrade(() => ({
      open: (openedSocket) => {
        socket = openedSocket;
      },
      message() {},
    }));
    const ws = new WebSocket(url.replace("http", "ws"));
    await once(ws, "open");
    await expect.poll(() => socket).toBeDefined();
    await socket?.drained();
    ws.pause();
    for (let i = 0; i < 100; i++) socket?.send(new Uint8Array(256 * 1024));
    expect(socket?.bufferedAmount).toBeGreaterThan(1_000_000);
    let isDrained = false;
    const whenDrained = socket?.drained().then(() => {
      isDrained = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isDrained).toBe(false);
    ws.resume();
    await whenDrained;
    expect(socket?.bufferedAmount).toBe(0);
    ws.terminate();
  });

  test("a message over 1 MiB and a throwing handler end only the socket", async () => {
    const { url } = await serveUpgrade(() => ({
      message() {
        throw new Error("a mistake");
      },
    }));
    const largeClient = new WebSocket(url.replace("http", "ws"));
    await once(largeClient, "open");
    largeClient.send(new Uint8Array(2 ** 20 + 1));
    expect((await once(largeClient, "close"))[0]).toBe(1009);
    const brokenClient = new WebSocket(url.replace("http", "ws"));
    await once(brokenClient, "open");
    brokenClient.send("x");
    expect((await once(brokenClient, "close"))[0]).toBe(1011);
  });

  test("a client that leaves while the application decides is reported as closed", async () => {
    const closeCodes: number[] = [];
    let isDeciding = false;
    const { port } = await serveUpgrade(async () => {
      isDeciding = true;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { message() {}, close: (_socket, code) => void closeCodes.push(code) };
    });
    const lines = Object.entries({ host: "x", ...HANDSHAKE }).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(port, "127.0.0.1");
    socket.write(`GET / HTTP/1.1\r\n${lines.join("")}\r\n`);
    await expect.poll(() => isDeciding).toBe(true);
    socket.destroy();
    await expect.poll(() => closeCodes).toEqual([1006]);
  });

  test("an offer of another protocol is ignored with its body", async () => {
    const { port } = await serveUpgrade(() => textReply(404, "not a socket"));
    const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABk" };
    const clientRequest = request({ port, method: "POST", path: "/v1/calls", headers });
    clientRequest.end("hello");
    const [response] = (await once(clientRequest, "response")) as [IncomingMessage];
    let body = "";
    for await (const piece of response) body += piece;
    expect(JSON.parse(body)).toMatchObject({ method: "POST", body: "hello" });
  });

  test("upgrades outside the prefix are left to the host", async () => {
    const server = createServer();
    const upgrades = attachUpgrade(server, fakeApp({ upgrade: () => textReply(401, "ours") }), { prefix: "/v1/" });
    server.on("upgrade", (message: IncomingMessage, socket: Duplex) => {
      if (message.url === "/own")
        socket.end("HTTP/1.1 418 I'm a teapot\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const clientRequest = request({ port, path: "/own", headers: HANDSHAKE }).end();
    expect(((await once(clientRequest, "response")) as [IncomingMessage])[0].statusCode).toBe(418);
    expect((await refusal(port))[0].statusCode).toBe(401);
    server.on("request", async (message, response) => response.end(`ordinary ${await textOf(message)}`));
    expect((await refusal(port, { connection: "Upgrade", upgrade: "h2c" }))[1]).toBe("ordinary ");
    upgrades.close();
    server.close();
  });

  test.each(UNUSUAL_TARGETS)("an upgrade of %s gets a response, then ends", async (target) => {
    const { port, close } = await serveUpgrade(() => textReply(404, "no socket here"));
    const { text, endedAfterMs } = await sendRaw(port, handshakeFor(target));
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(endedAfterMs).toBeDefined();
    await close();
  });

  test.each(UNUSUAL_TARGETS)("a client that resets after an upgrade of %s does not end the process", async (target) => {
    const server = createServer();
    const upgrades = attachUpgrade(server, fakeApp());
    const closedTargets: string[] = [];
    server.prependListener("upgrade", (_message, socket: Duplex) => {
      socket.once("close", () => closedTargets.push(target)); // another listener, which leaves the socket alone
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const upgradeEvent = once(server, "upgrade");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write(handshakeFor(target));
    await upgradeEvent;
    socket.resetAndDestroy();
    await expect.poll(() => closedTargets).toEqual([target]);
    upgrades.close();
    server.close();
  });

  test.each(["/own", ...UNUSUAL_TARGETS])("an upgrade of %s without another listener is a 404", async (target) => {
    const server = createServer((_message, response) => response.end("ordinary"));
    const upgrades = attachUpgrade(server, fakeApp({ upgrade: () => textReply(401, "ours") }));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { text, endedAfterMs } = await sendRaw(port, handshakeFor(target));
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(endedAfterMs).toBeDefined();
    const h2c = handshakeFor(target).replace("websocket", "h2c");
    expect((await sendRaw(port, h2c, { responses: 1 })).text).toMatch(/^HTTP\/1\.1 200 .*ordinary/s);
    upgrades.close();
    const serverClosed = once(server, "close");
    server.close();
    await serverClosed;
  });

  test("a handshake with a body is refused on another program's server", async () => {
    const server = createServer();
    const isKnown = (authorization: string | null) => authorization === "Bearer known";
    const handle = ({ headers }: RequestLike) =>
      isKnown(headers.get("authorization")) ? textReply(204, "") : textReply(401, "who?");
    const upgrades = attachUpgrade(server, fakeApp({ handle }));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const post = async (authorization: string) => {
      const headers = { ...HANDSHAKE, authorization };
      const clientRequest = request({ port, method: "POST", path: "/v1/calls", headers }).end("with a body");
      const [response] = (await once(clientRequest, "response")) as [IncomingMessage];
      return [response.statusCode, await textOf(response)];
    };
    expect(await post("Bearer unknown")).toEqual([401, "who?"]);
    expect(await post("Bearer known")).toEqual([400, expect.stringContaining("upgrade_not_offered")]);
    upgrades.close();
    server.close();
  });

  test("closing the server sends a close frame to its sockets", async () => {
    const { url, close } = await serveUpgrade(() => ({ message() {} }));
    const ws = new WebSocket(url.replace("http", "ws"));
    await once(ws, "open");
    const clientClosed = once(ws, "close");
    await close();
    expect((await clientClosed)[0]).toBe(1001);
  });
});
