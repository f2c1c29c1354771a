import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";

/** A server's response, as received over the wire. */
export interface HttpResponse {
  readonly status: number;
  /** By lower-case name; repeated fields are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** In wire order, with repeated fields separate and names as sent. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly text: string;
  /** The body as JSON. @throws {Error} it is not JSON; the message shows it */
  json<T = Record<string, unknown>>(): T;
}

/** A request to send. */
export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Body; a function returns a stream. */
  readonly body?: string | Uint8Array | (() => AsyncIterable<Uint8Array>) | undefined;
  /** Time limit, ms. Default: 20,000. */
  readonly timeoutMs?: number;
}

/**
 * Sends one request on a new connection and reads the whole response. The response may arrive while the body is still
 * being sent. A successful upgrade is returned as a 101.
 */
export function send(
  method: string,
  url: string,
  { headers, body, timeoutMs = 20_000 }: RequestOptions = {},
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let hasResponse = false;
    const request = url.startsWith("https:") ? httpsRequest : httpRequest;
    const outgoing = request(url, { method, headers: { ...headers }, agent: false });
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`${method} ${url} got no response within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    outgoing.on("response", (response) => {
      hasResponse = true;
      read(response).then(
        (result) => {
          settle(() => resolve(result));
          outgoing.destroy(); // the rest of the body need not be sent
        },
        (error) => settle(() => reject(error)),
      );
    });
    outgoing.on("upgrade", (response, socket) => {
      hasResponse = true;
      socket.destroy();
      settle(() => resolve(httpResponseOf(response, Buffer.alloc(0))));
    });
    outgoing.on("error", (error) => {
      if (!hasResponse) settle(() => reject(error));
    });
    if (typeof body === "function") void pump(body(), outgoing, () => hasResponse);
    else outgoing.end(body);
  });
}

async function pump(
  body: AsyncIterable<Uint8Array>,
  outgoing: ReturnType<typeof httpRequest>,
  isEnough: () => boolean,
): Promise<void> {
  let wake = (): void => {};
  for (const event of ["drain", "close", "response"]) outgoing.on(event, () => wake());
  try {
    for await (const chunk of body) {
      if (isEnough() || outgoing.destroyed) break;
      if (outgoing.write(chunk)) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    outgoing.end();
  } catch (error) {
    outgoing.destroy(error as Error);
  }
}

async function read(response: IncomingMessage): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return httpResponseOf(response, Buffer.concat(chunks));
}

function httpResponseOf(response: IncomingMessage, body: Buffer): HttpResponse {
  const raw = response.rawHeaders;
  const rawHeaders = raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ""] as const] : []));
  const headers: Record<string, string> = {};
  for (const [name, value] of rawHeaders) {
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
  }
  const text = body.toString("utf8");
  return {
    status: response.statusCode ?? 0,
    headers,
    rawHeaders,
    body,
    text,
    json<T>(): T {
      try {
        return JSON.parse(text) as T;
      } catch (cause) {
        throw new Error(`the body of a ${response.statusCode} response is not JSON: ${text.slice(0, 300)}`, { cause });
      }
    },
  };
}

/** A body of this many bytes, in pieces that leave time to receive an early response. */
export async function* bytesOf(
  total: number,
  piece: Uint8Array = Buffer.alloc(65_536, " "),
): AsyncGenerator<Uint8Array> {
  for (let remaining = total; remaining > 0; remaining -= piece.length) {
    yield remaining < piece.length ? piece.subarray(0, remaining) : piece;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The response on a bare socket. */
export interface RawResponse {
  /** Latin-1, so that no byte is lost. */
  readonly text: string;
  /** True if the server ended the connection. */
  readonly closed: boolean;
  readonly afterMs: number;
}

/**
 * Writes bytes to a bare socket and reads until the server ends the connection, `until` matches, or `waitMs` have passed;
 * for requests that an HTTP client refuses to send.
 */
export function sendRaw(
  url: string,
  bytes: string | Uint8Array,
  { until, waitMs = 3_000 }: { until?: RegExp; waitMs?: number } = {},
): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const finish = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed, afterMs: performance.now() - startedAt });
    };
    const timer = setTimeout(finish, waitMs, false);
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => {
      text += chunk;
      if (until?.test(text)) finish(false);
    });
    socket.on("error", () => finish(true));
    socket.on("close", () => finish(true));
  });
}
