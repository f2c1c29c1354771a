import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { message, openAudioSocket } from "../../../adapters/cli/bench/audio-socket.ts";
import { type HttpResponse, type RequestOptions, send } from "../../support/server-http.ts";

/** Resources of a hostile user. */
export interface AttackTarget {
  readonly url: string;
  readonly token: string;
  /** The instance of the demo token. */
  readonly instance: string;
}

/** An attack that a hostile user repeats. */
export interface Attack {
  readonly name: string;
  /** Number of copies that run at the same time. */
  readonly concurrency: number;
  /** Attacks once; returns the outcome to count. */
  strike(target: AttackTarget): Promise<string | number>;
}

const CALLEE = { phoneNumber: "+12025550100" };
const SPEECH = { type: "FIXED_TTS", target: CALLEE, tts: { text: "Hello there.", voiceId: "en-US-1" } };
/** A call with this body took up 17 KiB of disk space. */
const STREAM = { type: "DYNAMIC_STREAM", target: CALLEE };
/** Time for which an abandoned connection is held, ms. */
const HELD_MS = 2_000;

/** All attacks of the harness. */
export const ATTACKS: readonly Attack[] = [
  request("the same call with new keys", 8, "POST", "/v1/calls", (target) => ({
    headers: { "idempotency-key": key() },
    body: { instanceId: target.instance, ...STREAM, metadata: { filler: "x".repeat(12_000) } },
  })),
  {
    name: "calls that are hung up at once",
    concurrency: 2,
    async strike(target) {
      const body = { instanceId: target.instance, ...SPEECH, tts: { ...SPEECH.tts, text: "Hello. ".repeat(500) } };
      const creation = await sendTo(target, "POST", "/v1/calls", { body });
      if (creation.status < 300) await sendTo(target, "DELETE", `/v1/calls/${creation.json<{ id: string }>().id}`);
      return creation.status;
    },
  },
  ...[
    "/v1/events",
    "/v1/events?limit=200",
    "/v1/calls?limit=200&expand=outcome,transcript",
    "/v1/instances",
    "/v1/voices",
  ].map((path) => request(`GET ${path}`, 4, "GET", path)),
  request("a QR code", 16, "GET", (target) => `/v1/instances/${target.instance}/configure`),
  request("a link page", 4, "POST", (target) => `/v1/instances/${target.instance}/link-page`),
  request("voice samples", 4, "GET", "/v1/voices/en-US-1/sample.wav"),
  request("a wrong path", 4, "GET", "/v1/..%2f..%2fetc/passwd?a=%00"),
  request("deeply nested JSON", 4, "POST", "/v1/calls", () => ({
    body: `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  })),
  request("many keys", 2, "POST", "/v1/calls", () => ({
    body: `{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":1`).join()}}`,
  })),
  request("a big upload that is not audio", 2, "POST", "/v1/calls", (target) => ({
    body: {
      instanceId: target.instance,
      type: "FIXED_AUDIO",
      target: CALLEE,
      audio: { audioBase64: "A".repeat(1_000_000) },
    },
  })),
  request("a field that is far too long", 2, "POST", "/v1/calls", (target) => ({
    body: { instanceId: target.instance, ...STREAM, reference: "A".repeat(1_000_000) },
  })),
  request("an upload that is too big", 2, "POST", "/v1/calls", () => ({ body: { filler: "A".repeat(8_000_000) } })),
  request("a guessed token", 8, "GET", "/v1/instances", () => ({
    headers: { authorization: `Bearer ${key()}${key()}` },
  })),
  request("webhooks to hosts without an address", 2, "POST", "/v1/webhooks", () => ({
    body: { url: `https://${key()}.invalid/hook` },
  })),
  abandonedRequests(
    "an abandoned wait",
    8,
    (target) => `GET /v1/events?cursor=latest HTTP/1.1\r\n${head(target)}Prefer: wait=60\r\n\r\n`,
    50,
  ),
  abandonedRequests(
    "an unread event stream",
    8,
    (target) => `GET /v1/events HTTP/1.1\r\n${head(target)}Accept: text/event-stream\r\n\r\n`,
    HELD_MS,
  ),
  abandonedRequests(
    "a body that never ends",
    8,
    (target) =>
      `POST /v1/calls HTTP/1.1\r\n${head(target)}Content-Type: application/json\r\nContent-Length: 10000000\r\n\r\n{"a":"`,
    HELD_MS,
  ),
  abandonedRequests(
    "headers that never end",
    8,
    (target) => `GET /v1/events HTTP/1.1\r\n${head(target)}X-A: `,
    HELD_MS,
  ),
  abandonedRequests(
    "pipelined requests",
    4,
    (target) => `GET /v1/voices HTTP/1.1\r\n${head(target)}\r\n`.repeat(200),
    500,
  ),
  abandonedRequests("connections without a byte", 16, () => "", HELD_MS),
  {
    name: "streams with floods of audio",
    concurrency: 2,
    async strike(target) {
      const creation = await sendTo(target, "POST", "/v1/calls", { body: { instanceId: target.instance, ...STREAM } });
      if (creation.status >= 300) return creation.status;
      const { id } = creation.json<{ id: string }>();
      const url = `${target.url}/v1/calls/${id}/stream?audio=callee&encoding=pcm_s16le&sample_rate=16000`;
      let closeCode = 0;
      const openSocket = () =>
        openAudioSocket(url, { closed: (code) => (closeCode = code) }, target.token).catch(
          (fault: Error) =>
            /HTTP\/1.1 (\d+)[\s\S]*"code":"(\w+)"/.exec(fault.message)?.slice(1).join(" ") ?? "no stream",
        );
      let socket = await openSocket();
      for (let attempt = 1; attempt < 10 && socket === "429 rate_limited"; attempt++) {
        await pause(1_000);
        socket = await openSocket();
      }
      if (typeof socket === "string") return socket;
      const flood = message(new Uint8Array(64_000));
      for (let n = 0; n < 200 && closeCode === 0; n++) {
        socket.write(flood);
        await pause(5);
      }
      socket.destroy();
      await sendTo(target, "DELETE", `/v1/calls/${id}`);
      return closeCode === 0 ? "flooded" : `closed with ${closeCode}`;
    },
  },
];

function key(): string {
  return crypto.randomUUID();
}

function sendTo(
  target: AttackTarget,
  method: string,
  path: string,
  { headers, body }: { readonly headers?: RequestOptions["headers"]; readonly body?: object | string } = {},
): Promise<HttpResponse> {
  return send(method, target.url + path, {
    headers: {
      authorization: `Bearer ${target.token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    body: typeof body === "object" ? JSON.stringify(body) : body,
    timeoutMs: 60_000,
  });
}

/** A request whose response is read to its end. */
function request(
  name: string,
  concurrency: number,
  method: string,
  path: string | ((target: AttackTarget) => string),
  optionsOf: (target: AttackTarget) => {
    readonly headers?: RequestOptions["headers"];
    readonly body?: object | string;
  } = () => ({}),
): Attack {
  const strike = async (target: AttackTarget): Promise<number> =>
    (await sendTo(target, method, typeof path === "string" ? path : path(target), optionsOf(target))).status;
  return { name, concurrency, strike };
}

function head({ url, token }: AttackTarget): string {
  return `Host: ${new URL(url).host}\r\nAuthorization: Bearer ${token}\r\n`;
}

/** A connection that sends this text, is never read, and is closed after a time. */
function abandonedRequests(
  name: string,
  concurrency: number,
  text: (target: AttackTarget) => string,
  heldMs: number,
): Attack {
  return {
    name,
    concurrency,
    async strike(target) {
      const { hostname, port } = new URL(target.url);
      const socket: Socket = connect({ host: hostname, port: Number(port) });
      let isCut = false;
      const connection = new Promise<void>((resolve) => {
        socket.once("connect", resolve).once("error", () => resolve());
      });
      socket.on("close", () => (isCut = true)).on("error", () => {});
      await connection;
      socket.write(text(target));
      socket.pause();
      await pause(heldMs);
      const result = isCut ? "cut by the server" : "abandoned";
      socket.destroy();
      return result;
    },
  };
}
