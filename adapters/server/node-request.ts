import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { RequestLike } from "../../src/ports/web.ts";

/** Fields that frameworks add to a request: the original URL, and the body that their parser has read. */
type MountedMessage = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown };

/**
 * A Node request in the form that the core expects. Everything is built on first use: a `Request` costs more than a
 * call.
 */
export class NodeRequest implements RequestLike {
  readonly headers: { get(name: string): string | null };
  readonly #message: MountedMessage;
  #url: string | undefined;
  #parsedBody: Uint8Array | null | undefined;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.headers = { get: (name) => this.#header(name.toLowerCase()) };
  }

  get method(): string {
    return this.#message.method ?? "GET";
  }

  get url(): string {
    this.#url ??= this.#absoluteUrl();
    return this.#url;
  }

  get signal(): AbortSignal {
    return closeSignalOf(this.#message.socket);
  }

  /** The message itself, or the body as read by an earlier parser. */
  get body(): AsyncIterable<Uint8Array> | null {
    const parsedBody = this.#bodyOfParser();
    if (parsedBody) return singleChunk(parsedBody);
    return hasBody(this.#message) ? bodyOf(this.#message) : null;
  }

  #absoluteUrl(): string {
    const { originalUrl, url = "/", headers, socket } = this.#message;
    const target = originalUrl ?? url;
    if (/^https?:\/\//i.test(target)) return target; // absolute form, RFC 9112 §3.2.2
    const host = headers.host || "localhost";
    const scheme = "encrypted" in socket ? "https" : "http";
    return `${scheme}://${host}${target.startsWith("/") ? "" : "/"}${target}`;
  }

  #header(name: string): string | null {
    // The framework's parser has decoded the body, so its length has changed.
    if (name === "content-encoding" && this.#bodyOfParser()) return null;
    if (name === "content-length" && this.#bodyOfParser()) return String(this.#bodyOfParser()?.byteLength);
    const value = this.#message.headers[name];
    if (typeof value === "string") return value;
    return Array.isArray(value) ? value.join(", ") : null;
  }

  #bodyOfParser(): Uint8Array | null {
    if (this.#parsedBody !== undefined) return this.#parsedBody;
    const { body, readableEnded } = this.#message;
    if (!readableEnded || body === undefined || !hasBody(this.#message)) return null; // may still change
    const bytes = typeof body === "string" || body instanceof Uint8Array ? body : (JSON.stringify(body) ?? "");
    this.#parsedBody = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
    return this.#parsedBody;
  }
}

/** All Host headers of the message, comma-separated: Node itself keeps only the first one. */
export function hostsOf({ rawHeaders, headers }: IncomingMessage): string | undefined {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts++;
  return hosts > 1 ? `${headers.host}, …` : headers.host;
}

/** True if the message has a body (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** True if the client may still be sending the body. */
export function isUnread(message: IncomingMessage): boolean {
  return !message.complete && hasBody(message);
}

/** The body. Leaving the iteration early must not destroy the connection, which the response still needs. */
function bodyOf(message: IncomingMessage): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => message.iterator({ destroyOnReturn: false }) };
}

async function* singleChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const closeSignals = new WeakMap<Socket, AbortSignal>();

/** A signal that is aborted when the connection closes, shared by all of the connection's requests. */
function closeSignalOf(socket: Socket): AbortSignal {
  const existingSignal = closeSignals.get(socket);
  if (existingSignal) return existingSignal;
  const closeScope = new AbortController();
  const close = (): void => closeScope.abort(new Error("the client's connection has closed"));
  if (socket.destroyed) close();
  else socket.once("close", close);
  closeSignals.set(socket, closeScope.signal);
  return closeScope.signal;
}
