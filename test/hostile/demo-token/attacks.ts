import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { message, openAudioSocket } from "../../bench/stream/audio-socket.ts";
import { type Answer, type Sending, send } from "../../support/server-http.ts";

/** Resources of a hostile user. */
export interface Loot {
  readonly url: string;
  readonly token: string;
  /** The instance of the demo token. */
  readonly instance: string;
}

/** An attack that a hostile user repeats. */
export interface Attack {
  readonly name: string;
  /** Number of copies that run at the same time. */
  readonly atOnce: number;
  /** Attacks once; returns the outcome to count. */
  strike(loot: Loot): Promise<string | number>;
}

const CALLEE = { phoneNumber: "+12025550100" };
const SPEECH = { type: "FIXED_TTS", target: CALLEE, tts: { text: "Hello there.", voiceId: "en-US-1" } };
/** A body like this one took 17 KiB of disk. */
const STREAM = { type: "DYNAMIC_STREAM", target: CALLEE };
/** Time for which an abandoned connection is held, ms. */
const HELD_MS = 2_000;

/** All attacks of the harness. */
export const ATTACKS: readonly Attack[] = [
  request("the same call with new keys", 8, "POST", "/v1/calls", (loot) => ({
    headers: { "idempotency-key": key() },
    body: { instanceId: loot.instance, ...STREAM, metadata: { filler: "x".repeat(12_000) } },
  })),
  {
    name: "calls that are hung up at once",
    atOnce: 2,
    async strike(loot) {
      const body = { instanceId: loot.instance, ...SPEECH, tts: { ...SPEECH.tts, text: "Hello. ".repeat(500) } };
      const created = await ask(loot, "POST", "/v1/calls", { body });
      if (created.status < 300) await ask(loot, "DELETE", `/v1/calls/${created.json<{ id: string }>().id}`);
      return created.status;
    },
  },
  ...[
    "/v1/events",
    "/v1/events?limit=200",
    "/v1/calls?limit=200&expand=outcome,transcript",
    "/v1/instances",
    "/v1/voices",
  ].map((path) => request(`GET ${path}`, 4, "GET", path)),
  request("a QR code", 16, "GET", (loot) => `/v1/instances/${loot.instance}/configure`),
  request("a link page", 4, "POST", (loot) => `/v1/instances/${loot.instance}/link-page`),
  request("voice samples", 4, "GET", "/v1/voices/en-US-1/sample.wav"),
  request("a wrong path", 4, "GET", "/v1/..%2f..%2fetc/passwd?a=%00"),
  request("deeply nested JSON", 4, "POST", "/v1/calls", () => ({
    body: `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  })),
  request("many keys", 2, "POST", "/v1/calls", () => ({
    body: `{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":1`).join()}}`,
  })),
  request("a big upload that is no audio", 2, "POST", "/v1/calls", (loot) => ({
    body: {
      instanceId: loot.instance,
      type: "FIXED_AUDIO",
      target: CALLEE,
      audio: { audioBase64: "A".repeat(1_000_000) },
    },
  })),
  request("a field that is far too long", 2, "POST", "/v1/calls", (loot) => ({
    body: { instanceId: loot.instance, ...STREAM, reference: "A".repeat(1_000_000) },
  })),
  request("an upload that is too big", 2, "POST", "/v1/calls", () => ({ body: { filler: "A".repeat(8_000_000) } })),
  request("a guessed token", 8, "GET", "/v1/instances", () => ({
    headers: { authorization: `Bearer ${key()}${key()}` },
  })),
  request("webhooks to hosts without an address", 2, "POST", "/v1/webhooks", () => ({
    body: { url: `https://${key()}.invalid/hook` },
  })),
  abandoned(
    "a wait that nobody waits for",
    8,
    (loot) => `GET /v1/events?cursor=latest HTTP/1.1\r\n${head(loot)}Prefer: wait=60\r\n\r\n`,
    50,
  ),
  abandoned(
    "an event stream that nobody reads",
    8,
    (loot) => `GET /v1/events HTTP/1.1\r\n${head(loot)}Accept: text/event-stream\r\n\r\n`,
    HELD_MS,
  ),
  abandoned(
    "a body that never ends",
    8,
    (loot) =>
      `POST /v1/calls HTTP/1.1\r\n${head(loot)}Content-Type: application/json\r\nContent-Length: 10000000\r\n\r\n{"a":"`,
    HELD_MS,
  ),
  abandoned("headers that never end", 8, (loot) => `GET /v1/events HTTP/1.1\r\n${head(loot)}X-A: `, HELD_MS),
  abandoned("pipelined requests", 4, (loot) => `GET /v1/voices HTTP/1.1\r\n${head(loot)}\r\n`.repeat(200), 500),
  abandoned("connections without a byte", 16, () => "", HELD_MS),
  {
    name: "streams with floods of audio",
    atOnce: 2,
    async strike(loot) {
      const created = await ask(loot, "POST", "/v1/calls", { body: { instanceId: loot.instance, ...STREAM } });
      if (created.status >= 300) return created.status;
      const { id } = created.json<{ id: string }>();
      const url = `${loot.url}/v1/calls/${id}/stream?audio=callee&encoding=pcm_s16le&sample_rate=16000`;
      let closed = 0;
      const opening = () =>
        openAudioSocket(url, { closed: (code) => (closed = code) }, loot.token).catch(
          (fault: Error) =>
            /HTTP\/1.1 (\d+)[\s\S]*"code":"(\w+)"/.exec(fault.message)?.slice(1).join(" ") ?? "no stream",
        );
      let socket = await opening();
      for (let tries = 1; tries < 10 && socket === "429 rate_limited"; tries++) {
        await pause(1_000);
        socket = await opening();
      }
      if (typeof socket === "string") return socket;
      const flood = message(new Uint8Array(64_000));
      for (let n = 0; n < 200 && closed === 0; n++) {
        socket.write(flood);
        await pause(5);
      }
      socket.destroy();
      await ask(loot, "DELETE", `/v1/calls/${id}`);
      return closed === 0 ? "flooded" : `closed with ${closed}`;
    },
  },
];

function key(): string {
  return crypto.randomUUID();
}

function ask(
  loot: Loot,
  method: string,
  path: string,
  { headers, body }: { readonly headers?: Sending["headers"]; readonly body?: object | string } = {},
): Promise<Answer> {
  return send(method, loot.url + path, {
    headers: {
      authorization: `Bearer ${loot.token}`,
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
  atOnce: number,
  method: string,
  path: string | ((loot: Loot) => string),
  sending: (loot: Loot) => { readonly headers?: Sending["headers"]; readonly body?: object | string } = () => ({}),
): Attack {
  const strike = async (loot: Loot): Promise<number> =>
    (await ask(loot, method, typeof path === "string" ? path : path(loot), sending(loot))).status;
  return { name, atOnce, strike };
}

function head({ url, token }: Loot): string {
  return `Host: ${new URL(url).host}\r\nAuthorization: Bearer ${token}\r\n`;
}

/** A connection that sends this text, is never read, and is broken off after a time. */
function abandoned(name: string, atOnce: number, text: (loot: Loot) => string, heldMs: number): Attack {
  return {
    name,
    atOnce,
    async strike(loot) {
      const { hostname, port } = new URL(loot.url);
      const socket: Socket = connect({ host: hostname, port: Number(port) });
      let cut = false;
      const opened = new Promise<void>((resolve) => {
        socket.once("connect", resolve).once("error", () => resolve());
      });
      socket.on("close", () => (cut = true)).on("error", () => {});
      await opened;
      socket.write(text(loot));
      socket.pause();
      await pause(heldMs);
      const how = cut ? "cut by the server" : "abandoned";
      socket.destroy();
      return how;
    },
  };
}
