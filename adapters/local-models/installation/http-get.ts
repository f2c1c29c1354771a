import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
import { CodedError, errorText } from "../../../src/base/error.ts";
import { InstallFault } from "./install-fault.ts";

/** A response, whose body must be read or discarded. */
export interface HttpResponse {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection. */
  discard(): void;
}

/** Options of {@link httpGet}. */
export interface HttpGetOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for a byte, ms. Default: 30,000. */
  readonly stallMs?: number | undefined;
}

const STALL_MS = 30_000;
const MAX_REDIRECTS = 5;
const HEADERS = { "user-agent": "ringport", "accept-encoding": "identity" };

/** Thrown if a server cannot be reached, or stops sending. */
export class ConnectionLost extends CodedError {
  override readonly name = "ConnectionLost";
  readonly code = "connection_lost";
}

/**
 * Sends a GET request through the proxy set in HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and follows redirects, but never
 * from HTTPS to HTTP.
 * @throws {ConnectionLost} the server cannot be reached
 */
export async function httpGet(url: URL, options: HttpGetOptions = {}): Promise<HttpResponse> {
  let currentUrl = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await getOnce(currentUrl, options);
    const location = response.header("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return response;
    response.discard();
    const next = new URL(location, currentUrl);
    if (next.protocol !== "https:" && next.protocol !== currentUrl.protocol)
      throw new InstallFault(`${currentUrl.origin} redirects to ${next.protocol}, which is refused`);
    currentUrl = next;
  }
  throw new InstallFault(`${url.origin} redirects more than ${MAX_REDIRECTS} times`);
}

async function getOnce(url: URL, { headers, signal, stallMs = STALL_MS }: HttpGetOptions): Promise<HttpResponse> {
  const stop = new AbortController();
  const combinedSignal = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  /** Waits for the next bytes. */
  const awaitBytes = async <T>(bytes: Promise<T>): Promise<T> => {
    const fault = new ConnectionLost(`${url.host} sent nothing for ${stallMs / 1_000} s`);
    const timer = setTimeout(() => stop.abort(fault), stallMs);
    try {
      return await bytes;
    } catch (error) {
      combinedSignal.throwIfAborted();
      throw new ConnectionLost(`the connection to ${url.host} failed: ${connectionReason(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };
  async function* read(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const pieces = body[Symbol.asyncIterator]();
    try {
      for (let next = await awaitBytes(pieces.next()); !next.done; next = await awaitBytes(pieces.next()))
        yield next.value;
    } finally {
      stop.abort();
    }
  }
  const isNode = process.versions.bun === undefined && !("Deno" in globalThis);
  const { body, ...response } = await awaitBytes(
    (isNode ? getByNode : getByFetch)(url, { ...HEADERS, ...headers }, combinedSignal),
  );
  return { ...response, body: read(body), discard: () => stop.abort() };
}

type Send = (
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<Omit<HttpResponse, "discard">>;

/** Bun and Deno read the proxy variables for `fetch`. */
const getByFetch: Send = async (url, headers, signal) => {
  const response = await fetch(url, { headers, signal, redirect: "manual" });
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    body: response.body ?? ReadableStream.from([]),
  };
};

/** Node reads the proxy variables for `node:http`, and for `fetch` only if started with an option. */
const getByNode: Send = async (url, headers, signal) => {
  if (!hasProxies() && PROXIES.some((name) => process.env[name] || process.env[name.toLowerCase()]))
    throw new InstallFault(
      `Node ${process.versions.node} cannot use the proxy of ${PROXIES.join(" or ")}: run it with Node 22.21, 24.5 or newer, or download ${url} yourself and add it with --from FILE`,
    );
  const module = url.protocol === "https:" ? import("node:https") : import("node:http");
  const { get, Agent } = (await module) as typeof import("node:https");
  const agent = new Agent({ proxyEnv: process.env } as object);
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, signal, agent }, (response) => {
      const header = (name: string): string | undefined => [response.headers[name] ?? []].flat()[0];
      resolve({ status: response.statusCode ?? 0, header, body: response });
    });
    request.on("error", reject);
  });
};

const PROXIES = ["HTTPS_PROXY", "HTTP_PROXY"] as const;

/** True if this version of Node reads the proxy variables. */
function hasProxies(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
}

/** The error code of a failed connection, or the message if there is no code. */
export function connectionReason(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === "string") return code;
  if (cause !== undefined && cause !== null) return connectionReason(cause);
  const text = errorText(error);
  return CODES_BY_TEXT.find(([pattern]) => pattern.test(text))?.[1] ?? text.replace(/^error sending .*? \(\S+\): /, "");
}

/** Deno's errors have texts in place of Node's and Bun's codes. */
const CODES_BY_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\bdns error\b/i, "ENOTFOUND"],
  [/\bconnection refused\b/i, "ECONNREFUSED"],
  [/\bconnection reset\b/i, "ECONNRESET"],
];
