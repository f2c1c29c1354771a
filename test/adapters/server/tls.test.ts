import { generateKeyPairSync } from "node:crypto";
import { createServer, get, type Server } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Listening, ServeOptions, Tls } from "../../../adapters/server/listening.ts";
import { attachUpgrade, handler } from "../../../adapters/server/node.ts";
import { tlsFault } from "../../../adapters/server/tls-fault.ts";
import type { SocketHandlers } from "../../../src/ports/web.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { CODE_POINT } from "../../support/fuzz.ts";
import { type FakeHandlers, fakeApp, textReply } from "./fake-app.ts";
import { sendRaw } from "./raw.ts";
import { runtime, serveHere } from "./this-runtime.ts";

const authority = certificateAuthority();
const tls = authority.issue({ names: ["127.0.0.1"] });
const servers: { close(): unknown }[] = [];
const sockets: (Socket | WebSocket)[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) "terminate" in socket ? socket.terminate() : socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serveFake(handlers: FakeHandlers = {}, options?: ServeOptions): Promise<Listening> {
  const listening = await serveHere(fakeApp(handlers), { tls, ...options });
  servers.push(listening);
  return listening;
}

function fetchText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { ca: authority.ca, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => resolve(text));
    }).on("error", reject);
  });
}

/** The serial number of a new connection's certificate. */
function readSerial(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connectTls({ port, host: "127.0.0.1", ca: authority.ca }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

const echo = (): SocketHandlers => ({ message: (socket, data) => socket.send(data) });

function echoOf(url: string, text: string): Promise<string> {
  const socket = new WebSocket(url, { ca: authority.ca });
  sockets.push(socket);
  return new Promise((resolve, reject) => {
    socket.on("open", () => socket.send(text));
    socket.on("message", (data) => resolve(String(data)));
    socket.on("error", reject);
  });
}

describe("a server with a certificate", () => {
  test("serves HTTPS with matching addresses", async () => {
    const { url, port } = await serveFake();
    expect(url).toBe(`https://127.0.0.1:${port}`);
    expect(JSON.parse(await fetchText(`${url}/a?b`))).toMatchObject({ url: `${url}/a?b` });
  });

  test("accepts secure WebSockets", async () => {
    const { port } = await serveFake({ upgrade: echo });
    expect(await echoOf(`wss://127.0.0.1:${port}/v1/calls/x/stream`, "hello")).toBe("hello");
  });

  test("reports an https address to the application", async () => {
    const addresses: string[] = [];
    const listening = await serveHere({ ...fakeApp(), listeningAt: (url) => void addresses.push(url) }, { tls });
    servers.push(listening);
    expect(addresses).toEqual([listening.url]);
  });

  test("handles no request without TLS", async () => {
    let requestCount = 0;
    const { port } = await serveFake({ handle: () => textReply(200, `secret ${++requestCount}`) });
    const { text } = await sendRaw(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect([requestCount, text]).toEqual([0, expect.not.stringContaining("secret")]);
  });

  test("closes in time without a client's handshake", async () => {
    const { port, close } = await serveFake();
    await new Promise<void>((resolve) => sockets.push(connect(port, "127.0.0.1", resolve)));
    const startedAt = performance.now();
    await close();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });
});

describe("a renewed certificate", () => {
  test.skipIf(runtime !== "node")("is used by new connections", async () => {
    const listening = await serveFake({ upgrade: echo });
    const oldSerial = await readSerial(listening.port);
    const renewedCertificate = authority.issue({ names: ["127.0.0.1"] });
    listening.setCertificate?.(renewedCertificate);
    expect(await readSerial(listening.port)).not.toBe(oldSerial);
    const usedSerial = await readSerial(listening.port);
    expect(() => listening.setCertificate?.({ ...tls, key: renewedCertificate.key })).toThrow(
      "belongs to another certificate",
    );
    expect(await readSerial(listening.port)).toBe(usedSerial);
  });

  test("cannot be set without TLS, or on runtimes that cannot replace it", async () => {
    expect((await serveFake()).setCertificate === undefined).toBe(runtime !== "node");
    expect((await serveFake({}, { tls: undefined })).setCertificate).toBeUndefined();
  });
});

const otherCertificate = authority.issue();
const encryptedKey = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" },
}).privateKey;

describe("an unusable certificate", () => {
  test.each<[string, Tls, string]>([
    ["an empty certificate", { ...tls, cert: "" }, "tls.cert cannot be used: there is no certificate in it"],
    ["a key in its place", { ...tls, cert: tls.key }, "tls.cert cannot be used: there is no certificate in it"],
    ["an empty key", { ...tls, key: "" }, "tls.key cannot be used: there is no private key in it"],
    ["a certificate in its place", { ...tls, key: tls.cert }, "tls.key cannot be used: there is no private key in it"],
    [
      "another key",
      { ...tls, key: otherCertificate.key },
      "tls.key cannot be used: the key belongs to another certificate",
    ],
    [
      "a broken certificate after it",
      { ...tls, cert: `${tls.cert}${authority.ca.slice(0, 100)}` },
      "tls.cert cannot be used: certificate 2 of 2 in it is broken",
    ],
    ["an encrypted key", { ...tls, key: encryptedKey }, "tls.key cannot be used: the key is encrypted"],
  ])("%s fails the start", async (_, brokenTls, message) => {
    await expect(serveHere(fakeApp(), { tls: brokenTls })).rejects.toMatchObject({
      name: "CannotListen",
      message: expect.stringContaining(message),
    });
  });

  // Bun's library has no lower limit.
  test.skipIf(runtime === "bun")("fails the start if its key is too weak, and is not used if renewed", async () => {
    const weakCertificate = authority.issue({ names: ["127.0.0.1"], rsaBits: 512 });
    const refusal = expect.objectContaining({
      name: "CannotListen",
      message: expect.stringMatching(
        /^tls\.cert cannot be used: the TLS library refuses it \(.*key too small.*\); use/,
      ),
    });
    await expect(serveHere(fakeApp(), { tls: weakCertificate })).rejects.toEqual(refusal);
    const listening = await serveFake();
    if (!listening.setCertificate) return;
    const usedSerial = await readSerial(listening.port);
    expect(() => listening.setCertificate?.(weakCertificate)).toThrow(refusal);
    expect(await readSerial(listening.port)).toBe(usedSerial);
  });

  test("is a fault, never an exception", () => {
    const corruptedText = (text: string) =>
      fc
        .tuple(fc.nat(text.length), fc.nat(40), fc.string({ unit: CODE_POINT }))
        .map(([offset, length, insertion]) => text.slice(0, offset) + insertion + text.slice(offset + length));
    const texts = fc.oneof(fc.string({ unit: CODE_POINT }), corruptedText(tls.cert), corruptedText(tls.key));
    fc.assert(
      fc.property(texts, texts, (cert, key) => {
        const fault = tlsFault({ cert, key });
        expect(fault === undefined || fault.sentence.length > 0).toBe(true);
      }),
    );
    expect(tlsFault(tls)).toBeUndefined();
  });

  test("is refused if its chain begins with another certificate", () => {
    expect(tlsFault({ cert: tls.cert + authority.ca, key: tls.key })).toBeUndefined();
    expect(tlsFault({ cert: authority.ca + tls.cert, key: tls.key })?.part).toBe("key");
  });
});

describe.skipIf(runtime !== "node")("the program's own HTTPS server", () => {
  function programServer(handlers: FakeHandlers): Promise<{ server: Server; port: number; addresses: string[] }> {
    const addresses: string[] = [];
    const app = { ...fakeApp(handlers), listeningAt: (url: string) => void addresses.push(url) };
    const server = createServer({ ...tls }, handler(app));
    const upgrades = attachUpgrade(server, app);
    servers.push({
      close() {
        upgrades.close();
        server.close();
        server.closeAllConnections();
      },
    });
    return new Promise((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve({ server, port: (server.address() as AddressInfo).port, addresses })),
    );
  }

  test("has an https address and secure WebSockets", async () => {
    const { port, addresses } = await programServer({ upgrade: echo });
    expect(addresses).toEqual([`https://127.0.0.1:${port}`]);
    expect(await echoOf(`wss://127.0.0.1:${port}/v1/calls/x/stream`, "hello")).toBe("hello");
  });

  test("ignores the offer of another protocol inside TLS", async () => {
    const { port } = await programServer({});
    const text = await new Promise<string>((resolve, reject) => {
      let receivedText = "";
      const socket = connectTls({ port, host: "127.0.0.1", ca: authority.ca }, () =>
        socket.write("GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
      );
      sockets.push(socket);
      socket.on("data", (data) => {
        receivedText += data;
        if (receivedText.includes("/a")) resolve(receivedText);
      });
      socket.on("error", reject);
      socket.on("close", () => resolve(receivedText));
    });
    expect(text).toMatch(/^HTTP\/1.1 200/);
  });
});
