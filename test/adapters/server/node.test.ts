import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import {
  attachUpgrade,
  CannotListen,
  handler,
  type Listening,
  type ServedApp,
  serve,
} from "../../../adapters/server/node.ts";
import { fakeApp, limitedReply, textOf, textReply } from "./fake-app.ts";
import { sendRaw } from "./raw.ts";

// Bun and Deno only imitate node:http; each has a separate adapter.
const onNode = !("Bun" in globalThis || "Deno" in globalThis);
const closers: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((server) => server.close()));
});

async function serveFake(app: ServedApp): Promise<Listening> {
  const listening = await serve(app, { port: 0 });
  closers.push(listening);
  return listening;
}

describe.skipIf(!onNode)("serving on Node (skipped elsewhere: Bun and Deno have their own adapters)", () => {
  test("a request arrives with its method, absolute URL, headers and body", async () => {
    const { url } = await serveFake(fakeApp());
    const response = await fetch(`${url}/a/b?c=d`, {
      method: "POST",
      body: "hello",
      headers: { "content-type": "a/b" },
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ method: "POST", url: `${url}/a/b?c=d`, type: "a/b", body: "hello" });
  });

  test("a request without a body has none", async () => {
    const { url } = await serveFake(fakeApp());
    expect(await (await fetch(url)).json()).toMatchObject({ method: "GET", body: null });
    expect(await (await fetch(url, { method: "DELETE" })).json()).toMatchObject({ method: "DELETE", body: null });
  });

  test("responses with bytes, to HEAD and with status 204 have the right length", async () => {
    const bytes = Uint8Array.of(0, 255, 10);
    const { url } = await serveFake(
      fakeApp({
        handle: ({ method }) =>
          method === "HEAD"
            ? { status: 200, headers: { "content-length": "3" } }
            : method === "DELETE"
              ? { status: 204, headers: {} }
              : { status: 200, headers: {}, body: bytes },
      }),
    );
    expect(new Uint8Array(await (await fetch(url)).arrayBuffer())).toEqual(bytes);
    expect((await fetch(url, { method: "HEAD" })).headers.get("content-length")).toBe("3");
    const deletion = await fetch(url, { method: "DELETE" });
    expect([deletion.status, deletion.headers.get("content-length")]).toEqual([204, null]);
  });

  test("a connection survives unread small bodies", async () => {
    const { port } = await serveFake(fakeApp({ handle: () => textReply(401, "who are you") }));
    const post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    const { text: response } = await sendRaw(port, post + post + post, { responses: 3 });
    expect(response.match(/HTTP\/1\.1 401/g)).toHaveLength(3);
  });

  test("a body of 1 GB is refused early, and its client receives the response", async () => {
    const { port } = await serveFake(fakeApp({ handle: (message) => limitedReply(message, 1_000_000) }));
    const piece = Buffer.alloc(256 * 1024);
    let sentBytes = 0;
    const body = new Readable({
      read() {
        sentBytes += piece.length;
        this.push(sentBytes > 2 ** 30 ? null : piece);
      },
    });
    const upload = request({ port, method: "POST", headers: { "content-length": String(2 ** 30) } });
    upload.on("error", () => {});
    body.pipe(upload);
    const [response] = (await once(upload, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    expect(await Readable.toWeb(response).getReader().read()).toMatchObject({ done: false });
    expect(sentBytes).toBeLessThan(100 * 1024 * 1024);
    body.destroy();
    upload.destroy();
  });

  test("an endless body after a refusal is not read forever", async () => {
    const { port } = await serveFake(fakeApp({ handle: () => textReply(401, "who are you") }));
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    const drip = setInterval(() => socket.write("1\r\nx\r\n"), 50);
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(first.toString()).toContain("401");
    await once(socket, "close", { signal: AbortSignal.timeout(4_000) });
    clearInterval(drip);
  });

  test("a client that disconnects during a body or response affects no other client", async () => {
    const failures: unknown[] = [];
    const largeBody = new Uint8Array(20 * 1024 * 1024);
    const { url, port } = await serveFake(
      fakeApp({
        async handle(message) {
          await textOf(message).catch((error: unknown) => failures.push(error));
          return { status: 200, headers: {}, body: largeBody };
        },
      }),
    );
    const partialClient = connect(port, "127.0.0.1");
    partialClient.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nonly this");
    await once(partialClient, "connect");
    await new Promise((resolve) => setTimeout(resolve, 50));
    partialClient.destroy();
    await expect.poll(() => failures.length).toBe(1);

    const disconnectingClient = connect(port, "127.0.0.1");
    disconnectingClient.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(disconnectingClient, "data");
    disconnectingClient.destroy();
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(largeBody.byteLength);
  });

  test("an application that throws results in a 500", async () => {
    const { url } = await serveFake(fakeApp({ handle: () => Promise.reject(new Error("secret detail")) }));
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret detail");
  });

  test("bytes that are not HTTP get a problem document", async () => {
    const { port } = await serveFake(fakeApp());
    const { text: response } = await sendRaw(port, "GARBAGE\r\n\r\n");
    expect(response).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(response).toContain("application/problem+json");
    const { text: largeHeadResponse } = await sendRaw(
      port,
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
    );
    expect(largeHeadResponse).toMatch(/^HTTP\/1\.1 431 /);
  });

  test("a port in use is named with the fix", async () => {
    const { port } = await serveFake(fakeApp());
    const error = await serve(fakeApp(), { port }).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(CannotListen);
    expect((error as Error).message).toContain(`port ${port} on 127.0.0.1 is in use`);
    expect((error as Error).message).toContain(`PORT=${port + 1}`);
  });

  test("the application gets its address, and its server can be closed twice", async () => {
    const addresses: string[] = [];
    const listening = await serve({ ...fakeApp(), listeningAt: (url) => void addresses.push(url) }, { port: 0 });
    expect(addresses).toEqual([listening.url]);
    expect(listening.url).toBe(`http://127.0.0.1:${listening.port}`);
    await Promise.all([listening.close(), listening.close()]);
    await expect(fetch(listening.url)).rejects.toThrow();
  });
});

describe.skipIf(!onNode)("mounting in a Node application (skipped elsewhere)", () => {
  async function listenOn(server: Server): Promise<string> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push({
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test("a body that a parser has already read is passed on", async () => {
    const app = handler(
      fakeApp({
        async handle(message) {
          const { headers } = message;
          const length = headers.get("content-length");
          return textReply(200, JSON.stringify([await textOf(message), length, headers.get("content-encoding")]));
        },
      }),
    );
    for (const [parsedBody, expected] of [
      [{ a: 1 }, '{"a":1}'],
      ["text", "text"],
      [Buffer.from("bytes"), "bytes"],
    ] as const) {
      const url = await listenOn(
        createServer(async (message, response) => {
          for await (const _ of message);
          await app(Object.assign(message, { body: parsedBody }), response);
        }),
      );
      const response = await fetch(url, { method: "POST", body: "unparsed", headers: { "content-encoding": "gzip" } });
      expect(await response.json()).toEqual([expected, String(expected.length), null]);
    }
  });

  test("the application gets its host's address, before or after listening starts", async () => {
    for (const attachAt of ["before", "after"]) {
      const addresses: string[] = [];
      const app = { ...fakeApp(), listeningAt: (url: string) => void addresses.push(url) };
      const server = createServer(handler(app));
      const url = attachAt === "before" ? await listenOn(server) : undefined;
      const { close } = attachUpgrade(server, app);
      expect(addresses).toEqual([url ?? (await listenOn(server))]);
      close();
    }
  });

  /** Calls middleware in order, as Connect and Express do. */
  function chain(...middleware: ReturnType<typeof handler>[]): Server {
    return createServer((message, response) => {
      const step = (at: number): void => void middleware[at]?.(message, response, () => step(at + 1));
      step(0);
    });
  }

  test("a request for another application is passed on with its body unread", async () => {
    const paths: string[] = [];
    const app = fakeApp({
      claims: (url) => new URL(url).pathname.startsWith("/v1"),
      handle: ({ url }) => {
        paths.push(new URL(url).pathname);
        return textReply(404, "ours");
      },
    });
    const url = await listenOn(
      chain(handler(app), async (message, response) => {
        let body = "";
        for await (const piece of message) body += piece;
        response.end(`next: ${message.method} ${message.url} ${body}`);
      }),
    );
    const response = await fetch(`${url}/pages?x=1`, { method: "POST", body: "hello" });
    expect(await response.text()).toBe("next: POST /pages?x=1 hello");
    expect(await (await fetch(`${url}/v1/nothing`)).text()).toBe("ours");
    expect(paths).toEqual(["/v1/nothing"]);
  });

  test("two mounted applications each handle their own requests, and pass others on", async () => {
    const app = (prefix: string) =>
      handler(fakeApp({ claims: (url) => new URL(url).pathname === prefix, handle: () => textReply(200, prefix) }));
    const url = await listenOn(
      chain(app("/a"), app("/b"), app("/a"), async (_, response) => void response.end("rest")),
    );
    for (const path of ["/a", "/b", "/c", "/b"]) {
      const response = await fetch(url + path, { signal: AbortSignal.timeout(3_000) });
      expect(await response.text()).toBe(path === "/c" ? "rest" : path);
    }
  });

  test("an application that cannot name its own paths handles everything", async () => {
    const app = fakeApp();
    const url = await listenOn(
      chain(handler({ ...app, claims: () => Promise.reject(new Error("broken")) }), async (_, response) => {
        response.end("next");
      }),
    );
    expect(await (await fetch(`${url}/x`)).json()).toMatchObject({ url: `${url}/x` });
  });

  test("the application gets the client's URL under a mount point", async () => {
    const app = handler(fakeApp());
    const url = await listenOn(
      createServer((message, response) => {
        void app(Object.assign(message, { originalUrl: message.url, url: "/rest" }), response);
      }),
    );
    expect(await (await fetch(`${url}/api/rest`)).json()).toMatchObject({ url: `${url}/api/rest` });
  });
});
