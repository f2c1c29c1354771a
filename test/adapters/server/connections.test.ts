import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { Listening, ServeOptions } from "../../../adapters/server/listening.ts";
import { type FakeHandlers, fakeApp, limitedReply, textReply } from "./fake-app.ts";
import { sendRaw } from "./raw.ts";
import { runtime, serveHere } from "./this-runtime.ts";

const servers: Listening[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serveFake(handlers: FakeHandlers, options?: ServeOptions): Promise<number> {
  const listening = await serveHere(fakeApp(handlers), options);
  servers.push(listening);
  return listening.port;
}

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);

describe("Host", () => {
  test.each([
    ["two different hosts", "Host: a\r\nHost: b"],
    ["the same host twice", "Host: a\r\nhost: a"],
    ["a list", "Host: a, b"],
    ["a path", "Host: a/b?c"],
  ])("%s gets 400 before the application gets the request", async (_, hosts) => {
    let requestCount = 0;
    const count = () => textReply(200, String(++requestCount));
    const port = await serveFake({ handle: count, upgrade: count });
    for (const headers of ["", "Connection: Upgrade\r\nUpgrade: websocket\r\n"]) {
      const { text } = await sendRaw(port, `GET / HTTP/1.1\r\n${hosts}\r\n${headers}\r\n`, { responses: 1 });
      expect([statusOf(text), requestCount]).toEqual([400, 0]);
      // Deno itself rejects two Host headers, and responds without a body.
      if (runtime !== "deno" || !/\n/.test(hosts)) expect(text).toContain('"code":"malformed_request"');
    }
  });

  test.each(["example.com", "example.com:8080", "[::1]:8080", "my_host"])("%s is accepted", async (host) => {
    const port = await serveFake({});
    const { text } = await sendRaw(port, `GET /a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(text).toContain(`http://${host}/a`);
  });
});

describe("a response before the end of the body", () => {
  const refusingApp = { handle: () => textReply(401, "no") };
  const lateRefusingApp = {
    handle: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return textReply(401, "no");
    },
  };

  test.each([
    ["a small body", "Content-Length: 1000\r\n\r\nab", "x"],
    ["a large body", "Content-Length: 1000000\r\n\r\nab", "x"],
    ["a body in chunks", "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n", "1\r\nx\r\n"],
  ])(
    "ends a connection with %s, dripped or stalled",
    async (_, request, drip) => {
      for (const app of [refusingApp, lateRefusingApp]) {
        const port = await serveFake(app);
        const head = `POST /v1/calls HTTP/1.1\r\nHost: a\r\n${request}`;
        const responses = await Promise.all([
          sendRaw(port, head, { drip, ms: 6_000 }),
          sendRaw(port, head, { ms: 6_000 }),
        ]);
        for (const { text, endedAfterMs } of responses) {
          expect(statusOf(text)).toBe(401);
          expect(text).toMatch(/^connection: close\r$/im);
          expect(endedAfterMs).toBeLessThan(4_000);
        }
      }
    },
    20_000,
  );

  test("reaches a client that sends a large body before it reads", async () => {
    const port = await serveFake({ handle: (request) => limitedReply(request, 100_000) });
    const piece = "x".repeat(65_536);
    const { text, endedAfterMs } = await sendRaw(
      port,
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n",
      {
        drip: piece,
        everyMs: 5,
        ms: 6_000,
      },
    );
    expect(statusOf(text)).toBe(413);
    expect(endedAfterMs).toBeLessThan(4_000);
  }, 10_000);

  // Node reads no further than the application does.
  test.skipIf(runtime === "node")(
    "leaves few connections open at the same time, and each gets its response",
    async () => {
      const port = await serveFake(refusingApp);
      const request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nab";
      const responses = await Promise.all(Array.from({ length: 60 }, () => sendRaw(port, request, { ms: 6_000 })));
      expect(responses.map(({ text }) => statusOf(text))).toEqual(responses.map(() => 401));
      const openAfterwards = responses.filter(({ endedAfterMs = Infinity }) => endedAfterMs > 1_500);
      expect(openAfterwards.length).toBeGreaterThan(0);
      expect(openAfterwards.length).toBeLessThanOrEqual(16);
    },
    10_000,
  );

  // Deno cannot report whether a body has arrived.
  test.skipIf(runtime === "deno")("keeps the connection if the body has arrived", async () => {
    for (const app of [refusingApp, lateRefusingApp]) {
      const port = await serveFake(app);
      const request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab";
      const { text, endedAfterMs } = await sendRaw(port, request, { drip: request, everyMs: 200, responses: 3 });
      expect(text.match(/HTTP\/1\.1 401/g)).toHaveLength(3);
      expect(endedAfterMs).toBeUndefined();
    }
  });
});

describe("pipelined requests", () => {
  const request = (n: number): string => `GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`;

  // Bun ends a connection on which a request arrives before the last response; clients have to repeat the request
  // (RFC 9112 §9.3.2).
  test.skipIf(runtime === "bun")("get their responses in order", async () => {
    let runningCount = 0;
    let maxRunning = 0;
    const handle = async ({ url }: { readonly url: string }) => {
      maxRunning = Math.max(maxRunning, ++runningCount);
      await new Promise((resolve) => setTimeout(resolve, 1));
      runningCount--;
      return textReply(200, new URL(url).pathname);
    };
    const port = await serveFake({ handle });
    const { text } = await sendRaw(port, Array.from({ length: 50 }, (_, n) => request(n)).join(""), { responses: 50 });
    expect([...text.matchAll(/^\/(\d+)/gm)].map(([, n]) => Number(n))).toEqual(Array.from({ length: 50 }, (_, n) => n));
    expect(maxRunning).toBe(1);
  });

  // Deno and Bun read only as many requests as they handle.
  test.runIf(runtime.startsWith("node"))("end the connection unhandled if there are too many", async () => {
    let handledCount = 0;
    const port = await serveFake({ handle: () => textReply(200, `${++handledCount}`) });
    const requests = Array.from({ length: 150 }, (_, n) => request(n)).join("");
    const { text, endedAfterMs } = await sendRaw(port, requests, { responses: 1 });
    expect(endedAfterMs).toBeDefined();
    expect({ handled: handledCount, text }).toEqual({ handled: 0, text: "" });
  });

  test("are handled until the buffer is full if the client does not read", async () => {
    let handledCount = 0;
    const port = await serveFake({ handle: () => textReply(200, `${++handledCount}`.padEnd(1 << 20)) });
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.pause();
    socket.write(Array.from({ length: 90 }, (_, n) => request(n)).join(""));
    let previousCount = -1;
    while (handledCount === 0 || previousCount !== handledCount) {
      previousCount = handledCount;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(handledCount).toBeLessThan(30);
  });
});

describe("a body in pieces", () => {
  const PIECE_BYTES = 64 << 10;
  const TOTAL_BYTES = 60 << 20;

  /** An application that serves large files, and counts the bytes read and the files closed. */
  function fileApp() {
    const counts = { read: 0, closed: 0 };
    async function* file() {
      try {
        for (let sentBytes = 0; sentBytes < TOTAL_BYTES; sentBytes += PIECE_BYTES) {
          counts.read += PIECE_BYTES;
          yield new Uint8Array(PIECE_BYTES);
        }
      } finally {
        counts.closed++;
      }
    }
    return {
      counts,
      handle: () => ({ status: 200, headers: { "content-length": String(TOTAL_BYTES) }, body: file() }),
    };
  }

  function stalledReader(port: number): { isClosed: boolean } {
    const reader = { isClosed: false };
    const socket = connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    socket.on("error", () => {});
    socket.on("close", () => {
      reader.isClosed = true;
    });
    socket.pause();
    sockets.push(socket);
    return reader;
  }

  test("is produced only as fast as its reader reads", async () => {
    const { counts, handle } = fileApp();
    const port = await serveFake({ handle });
    const READERS = 20;
    for (let i = 0; i < READERS; i++) stalledReader(port);
    let previousCount = 0;
    const isReadingStopped = () => {
      const isSettled = previousCount > 0 && counts.read === previousCount;
      previousCount = counts.read;
      return isSettled;
    };
    await expect.poll(isReadingStopped, { interval: 500, timeout: 10_000 }).toBe(true);
    // Most of the body is in kernel buffers.
    expect(counts.read / READERS).toBeLessThan(12 << 20);
  }, 15_000);

  test("is closed if its reader stalls; a reader that continues gets the whole body", async () => {
    const { counts, handle } = fileApp();
    const port = await serveFake({ handle }, { stallMs: 2_000 });
    const readers = [stalledReader(port), stalledReader(port)];
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect((await response.arrayBuffer()).byteLength).toBe(TOTAL_BYTES);
    await expect.poll(() => counts.closed).toBeGreaterThan(0);
    await expect.poll(() => counts.closed, { timeout: 15_000 }).toBe(3);
    // A paused socket notices its end only when it is read, and Deno cannot end a connection with a full buffer.
    for (const socket of sockets) socket.resume();
    await expect.poll(() => readers.map(({ isClosed }) => isClosed), { timeout: 5_000 }).toEqual([true, true]);
  }, 30_000);

  test("is cut when the server closes", async () => {
    const endlessBody = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(PIECE_BYTES)) });
    const listening = await serveHere(fakeApp({ handle: () => ({ status: 200, headers: {}, body: endlessBody }) }));
    const response = await fetch(`http://127.0.0.1:${listening.port}/`);
    await listening.close();
    await expect(response.arrayBuffer()).rejects.toThrow();
    await expect(fetch(`http://127.0.0.1:${listening.port}/`)).rejects.toThrow();
  }, 10_000);
});

describe("an upgrade request", () => {
  const request = (method: string, extraHeaders = ""): string =>
    `${method} /v1/calls/x/stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${extraHeaders}\r\n`;

  test("goes to the application first, even without a handshake", async () => {
    const port = await serveFake({ upgrade: () => textReply(401, "who?") });
    const { text } = await sendRaw(port, request("GET"), { responses: 1 });
    expect(statusOf(text)).toBe(401);
    expect(text).toContain("who?");
  });

  test("is refused for a broken handshake only if the application accepts it", async () => {
    const closeCodes: number[] = [];
    const port = await serveFake({ upgrade: () => ({ message() {}, close: (_, code) => void closeCodes.push(code) }) });
    expect(statusOf((await sendRaw(port, request("GET"), { responses: 1 })).text)).toBe(426);
    const shortKeyHeaders = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n";
    expect(statusOf((await sendRaw(port, request("GET", shortKeyHeaders), { responses: 1 })).text)).toBe(400);
    expect(closeCodes).toEqual([1006, 1006]);
  });

  test("is ignored if its method is not GET", async () => {
    const port = await serveFake({ upgrade: () => textReply(500, "unexpected upgrade") });
    const { text } = await sendRaw(port, request("POST"), { responses: 1 });
    expect(statusOf(text)).toBe(200);
    expect(text).toContain('"method":"POST"');
  });

  // Deno itself responds with 400, without a body.
  test.skipIf(runtime === "deno")("is ignored if it has a body, which is read", async () => {
    const port = await serveFake({ upgrade: () => textReply(500, "unexpected upgrade") });
    const { text } = await sendRaw(port, `${request("POST", "Content-Length: 5\r\n")}hello`, { responses: 1 });
    expect(statusOf(text)).toBe(200);
    expect(text).toContain('"body":"hello"');
  });
});
