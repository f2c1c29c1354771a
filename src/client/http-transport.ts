import ky, { isHTTPError, isTimeoutError } from "ky";
import { printableCause } from "../base/error.ts";
import { randomKey } from "../base/hex.ts";
import { type LogPage, type Page, pageOf } from "./list-pages.ts";
import { RETRIES, retryOptions } from "./retries.ts";
import { errorOfResponse, type RequestLine, RingportError } from "./ringport-error.ts";

/** A function that sends a request: the global `fetch`, or the `fetch` of a Ringport in the same process. */
export type FetchRequest = (request: Request) => Promise<Response>;

/** Options of a client. */
export interface ClientOptions {
  /** URL of the server, base path included, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /**
   * A bearer token; white space around it is ignored. Default: no token, for a server that identifies its clients in
   * another way.
   */
  readonly token?: string | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: FetchRequest | undefined;
  /** Maximum number of retries for a request after a lost connection, a 429 or a 503. Default: 4. */
  readonly retries?: number | undefined;
  /** Maximum time for one attempt, ms. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of every method. */
export interface RequestOptions {
  /** Cancels the request; the method rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of every creation. */
export interface CreateOptions extends RequestOptions {
  /**
   * Creations with the same key and body within 24 hours create one record. Default: a new key for each method call.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Values of a query string; a list is joined with commas, undefined is omitted. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** The body, the status and the headers of a response. */
export interface ParsedResponse<T> {
  readonly body: T;
  readonly status: number;
  readonly headers: Headers;
}

/** Requests to one server with one token. All methods throw {@link RingportError}. */
export interface Transport {
  /** URL of the server, without a trailing slash. */
  readonly url: string;
  get<T>(path: string, query: Query, options?: RequestOptions): Promise<T>;
  getResponse<T>(path: string, options?: RequestOptions): Promise<ParsedResponse<T>>;
  page<T>(path: string, query: Query, options?: RequestOptions): Promise<Page<T>>;
  logPage<T>(path: string, query: Query, options?: RequestOptions): Promise<LogPage<T>>;
  /**
   * Requests a page as `logPage` does, but the server waits for an item if the page is empty. The cursor is undefined
   * if the server sends none.
   */
  nextPage<T>(path: string, query: Query, options?: RequestOptions): Promise<AwaitedPage<T>>;
  bytes(path: string, options?: RequestOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** The body as text of this media type. */
  text(path: string, query: Query, type: string, options?: RequestOptions): Promise<string>;
  /** A POST of a file, which may take as long as the server allows. Only one with an idempotency key is retried. */
  upload<T>(path: string, query: Query, file: UploadedFile, options?: CreateOptions): Promise<T>;
  post<T>(
    path: string,
    body: unknown,
    idempotencyKey: string | undefined,
    options?: RequestOptions,
  ): Promise<ParsedResponse<T>>;
  /** Sends a POST that is not retried, because repeating it would do the work twice. */
  postOnce<T>(path: string, body: unknown, options?: RequestOptions): Promise<T>;
  put<T>(path: string, body: unknown, options?: RequestOptions): Promise<T>;
  patch<T>(path: string, body: unknown, options?: RequestOptions): Promise<T>;
  delete(path: string, options?: RequestOptions): Promise<void>;
}

/** A file to upload. */
export interface UploadedFile {
  /** Media type. */
  readonly type: string;
  readonly body: string | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
}

/** A page that the server may have waited for. */
export interface AwaitedPage<T> extends Page<T> {
  readonly cursor: string | undefined;
  /** True if the server waits; otherwise the caller has to pause before the next request. */
  readonly hasWaited: boolean;
}

type Method = "get" | "post" | "put" | "patch" | "delete";
interface RequestParts {
  readonly query?: Query;
  readonly json?: unknown;
  readonly idempotencyKey?: string;
  /** Default: the client's. */
  readonly retries?: number;
  readonly prefer?: string;
  readonly accept?: string;
  readonly file?: UploadedFile;
}

/** A response and its request. */
interface ReceivedResponse {
  readonly response: Response;
  readonly request: RequestLine;
}

/** Statuses of responses without a body. */
const BODILESS_STATUSES = [204, 205, 304];
const TIMEOUT_MS = 60_000;
/** Longest wait requested from a server, because proxies cut a connection after 30 s or more without a byte. */
const MAX_WAIT_S = 25;

/**
 * @throws {TypeError} the URL is not absolute or contains a user name, or the token contains characters that cannot be
 * sent
 */
export function createTransport(options: ClientOptions): Transport {
  const { url, fetch, retries, timeoutMs } = options;
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    throw new TypeError(`url is "${url}": it must be an absolute URL, such as http://127.0.0.1:8080`);
  const { username, password, host } = new URL(url);
  if (username !== "" || password !== "")
    throw new TypeError(`url of ${host} contains a user name or a password: it must have neither`);
  const token = options.token?.trim() ?? "";
  if (!/^[!-~]*$/.test(token))
    throw new TypeError("the token contains characters other than visible ASCII: copy it again");
  const base = url.replace(/\/+$/, "");
  const waitS = Math.min(MAX_WAIT_S, Math.floor((timeoutMs ?? TIMEOUT_MS) / 2_000));
  const client = ky.create({
    headers: token ? { authorization: `Bearer ${token}` } : {},
    fetch: bufferedFetch(fetch ?? ((request) => globalThis.fetch(request)), token),
    timeout: timeoutMs ?? TIMEOUT_MS,
  });

  async function send(
    method: Method,
    path: string,
    parts: RequestParts,
    signal?: AbortSignal,
  ): Promise<ReceivedResponse> {
    signal?.throwIfAborted();
    let wasLost = false;
    const retry = retryOptions(parts.retries ?? retries ?? RETRIES, () => {
      wasLost = true;
    });
    const headers = {
      ...(parts.idempotencyKey !== undefined && { "idempotency-key": parts.idempotencyKey }),
      ...(parts.prefer !== undefined && { prefer: parts.prefer }),
      ...(parts.accept !== undefined && { accept: parts.accept }),
      ...(parts.file && { "content-type": parts.file.type }),
    };
    const address = `${base}${path}${queryString(parts.query ?? {})}`;
    const request = { method: method.toUpperCase(), path: new URL(address).pathname };
    try {
      const response = await client(address, {
        method,
        headers,
        retry,
        ...(parts.json === undefined ? {} : { json: parts.json }),
        ...(parts.file && { body: parts.file.body, timeout: false as const }),
        ...(signal ? { signal } : {}),
      });
      return { response, request };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      // An earlier attempt, whose response was lost, has already deleted the record.
      if (isHTTPError(error) && method === "delete" && wasLost && error.response.status === 404)
        return { response: error.response, request };
      throw clientError(error, request);
    }
  }

  return {
    url: base,
    async get(path, query, options) {
      return readJson(await send("get", path, { query }, options?.signal));
    },
    async getResponse(path, options) {
      return parseResponse(await send("get", path, {}, options?.signal));
    },
    async page<T>(path: string, query: Query, options?: RequestOptions) {
      return pageIn<T>(await send("get", path, { query }, options?.signal));
    },
    async logPage<T>(path: string, query: Query, options?: RequestOptions) {
      const receivedResponse = await send("get", path, { query }, options?.signal);
      const { response, request } = receivedResponse;
      const cursor = response.headers.get("next-cursor");
      if (cursor === null) throw errorOfResponse(response, request, undefined, "without a Next-Cursor header");
      return { ...(await pageIn<T>(receivedResponse)), cursor };
    },
    async nextPage<T>(path: string, query: Query, options?: RequestOptions) {
      const parts = waitS > 0 ? { query, prefer: `wait=${waitS}` } : { query };
      const receivedResponse = await send("get", path, parts, options?.signal);
      const { headers } = receivedResponse.response;
      const serverWaits = /\bwait=/.test(headers.get("preference-applied") ?? "");
      return {
        ...(await pageIn<T>(receivedResponse)),
        cursor: headers.get("next-cursor") ?? undefined,
        hasWaited: serverWaits,
      };
    },
    async bytes(path, options) {
      const { response } = await send("get", path, {}, options?.signal);
      return new Uint8Array(await response.arrayBuffer());
    },
    async text(path, query, accept, options) {
      const { response } = await send("get", path, { query, accept }, options?.signal);
      return response.text();
    },
    async upload(path, query, file, { idempotencyKey, signal } = {}) {
      const once = idempotencyKey === undefined ? { retries: 0 } : { idempotencyKey };
      return readJson(await send("post", path, { query, file, ...once }, signal));
    },
    async post(path, json, idempotencyKey = randomKey(), options) {
      return parseResponse(await send("post", path, { json, idempotencyKey }, options?.signal));
    },
    async postOnce(path, json, options) {
      return readJson(await send("post", path, { json, retries: 0 }, options?.signal));
    },
    async put(path, json, options) {
      return readJson(await send("put", path, { json }, options?.signal));
    },
    async patch(path, json, options) {
      return readJson(await send("patch", path, { json }, options?.signal));
    },
    async delete(path, options) {
      await send("delete", path, {}, options?.signal);
    },
  };
}

/** Reads each response to its end, so that an interruption within it is treated as a lost connection too. */
function bufferedFetch(fetch: FetchRequest, token: string): (input: string | URL | Request) => Promise<Response> {
  return async (input) => {
    const request = input as Request; // ky passes no other value
    try {
      const response = await unlessAborted(fetch(request), request.signal);
      const { status, statusText, headers } = response;
      // Chromium reports an empty body instead of none, and `Response` accepts no body with these statuses.
      const body = response.body === null || BODILESS_STATUSES.includes(status) ? null : await response.arrayBuffer();
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      if (request.signal.aborted) throw error;
      const cause = printableCause(error, (text) => (token === "" ? text : text.replaceAll(token, "…")));
      const { origin, pathname: path } = new URL(request.url);
      const details = { request: { method: request.method, path }, cause };
      throw new RingportError("network_error", `${origin} did not respond: ${cause.message}`, details);
    }
  };
}

/**
 * Rejects when the signal is aborted: the `fetch` of a Ringport in this process ignores it, and may wait for an event.
 */
function unlessAborted(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    response.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** The error for the caller. Errors of ky contain the request with the token and the body, so none becomes a cause. */
function clientError(error: unknown, request: RequestLine): unknown {
  if (isHTTPError(error)) return errorOfResponse(error.response, request, error.data);
  if (isTimeoutError(error)) return new RingportError("timeout", "the server did not respond in time", { request });
  return error;
}

async function parseResponse<T>(receivedResponse: ReceivedResponse): Promise<ParsedResponse<T>> {
  const { status, headers } = receivedResponse.response;
  return { body: await readJson<T>(receivedResponse), status, headers };
}

async function pageIn<T>(receivedResponse: ReceivedResponse): Promise<Page<T>> {
  return pageOf(await readJson<T[]>(receivedResponse), receivedResponse.response.headers.get("link"));
}

/** The JSON body. The parser's error quotes the body, so it does not become a cause. */
async function readJson<T>({ response, request }: ReceivedResponse): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch {
    throw errorOfResponse(response, request, undefined, "with a body that is not JSON");
  }
}

function queryString(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
