import ky, { isHTTPError, isTimeoutError } from "ky";
import { printableCause } from "../base/printable-cause.ts";
import { type LogPage, type Page, pageOf } from "./pages.ts";
import { RETRIES, retryOptions } from "./retries.ts";
import { errorOfAnswer, type RequestLine, RingportError } from "./ringport-error.ts";

/** Sends a request; the global `fetch` is one, and so is the `fetch` of a Ringport in the same process. */
export type FetchRequest = (request: Request) => Promise<Response>;

/** How the server is reached. */
export interface ClientOptions {
  /** Where the server is, base path included, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** A bearer token; white space around it is ignored. */
  readonly token: string;
  /** Default: the global `fetch`. */
  readonly fetch?: FetchRequest | undefined;
  /** How often a request is sent again after a lost connection, 429 or 503. Default: 4. */
  readonly retries?: number | undefined;
  /** How long one attempt may take, ms. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** What every method takes. */
export interface RequestOptions {
  /** Gives the request up; the method rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What every creation takes. */
export interface CreateOptions extends RequestOptions {
  /** A creation with the same key and body happens once in 24 hours. Default: a new key for each call of the method. */
  readonly idempotencyKey?: string | undefined;
}

/** Values of a query string; a list is sent with commas, undefined is left out. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** The body of an answer, and what else it says. */
export interface Answered<T> {
  readonly body: T;
  readonly status: number;
  readonly headers: Headers;
}

/** Requests to one server with one token. All methods throw {@link RingportError}. */
export interface Transport {
  /** Where the server is, without a slash at the end. */
  readonly url: string;
  get<T>(path: string, query: Query, options?: RequestOptions): Promise<T>;
  getAnswer<T>(path: string, options?: RequestOptions): Promise<Answered<T>>;
  page<T>(path: string, query: Query, options?: RequestOptions): Promise<Page<T>>;
  logPage<T>(path: string, query: Query, options?: RequestOptions): Promise<LogPage<T>>;
  bytes(path: string, options?: RequestOptions): Promise<Uint8Array<ArrayBuffer>>;
  post<T>(
    path: string,
    body: unknown,
    idempotencyKey: string | undefined,
    options?: RequestOptions,
  ): Promise<Answered<T>>;
  patch<T>(path: string, body: unknown, options?: RequestOptions): Promise<T>;
  delete(path: string, options?: RequestOptions): Promise<void>;
}

type Method = "get" | "post" | "patch" | "delete";
interface Sending {
  readonly query?: Query;
  readonly json?: unknown;
  readonly idempotencyKey?: string;
}

/** An answer and what it answers. */
interface Exchange {
  readonly answer: Response;
  readonly request: RequestLine;
}

const TIMEOUT_MS = 60_000;

/** @throws {TypeError} the URL is not absolute or names a user, or the token has characters that cannot be sent */
export function createTransport(options: ClientOptions): Transport {
  const { url, fetch, retries, timeoutMs } = options;
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    throw new TypeError(`url is "${url}": give the whole address, such as http://127.0.0.1:8080`);
  const { username, password, host } = new URL(url);
  if (username !== "" || password !== "") throw new TypeError(`url of ${host}: give it without a user and a password`);
  const token = options.token.trim();
  if (!/^[!-~]*$/.test(token)) throw new TypeError("the token has characters that no token has: visible ASCII only");
  const base = url.replace(/\/+$/, "");
  const client = ky.create({
    headers: { authorization: `Bearer ${token}` },
    fetch: wholeAnswers(fetch ?? ((request) => globalThis.fetch(request)), token),
    timeout: timeoutMs ?? TIMEOUT_MS,
  });

  async function send(method: Method, path: string, sending: Sending, signal?: AbortSignal): Promise<Exchange> {
    signal?.throwIfAborted();
    let lost = false;
    const retry = retryOptions(retries ?? RETRIES, () => {
      lost = true;
    });
    const headers = sending.idempotencyKey === undefined ? {} : { "idempotency-key": sending.idempotencyKey };
    const address = `${base}${path}${search(sending.query ?? {})}`;
    const request = { method: method.toUpperCase(), path: new URL(address).pathname };
    try {
      const answer = await client(address, {
        method,
        headers,
        retry,
        ...(sending.json === undefined ? {} : { json: sending.json }),
        ...(signal ? { signal } : {}),
      });
      return { answer, request };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      // The attempt whose answer was lost did it, and now it is gone: that is what was wanted.
      if (isHTTPError(error) && method === "delete" && lost && error.response.status === 404)
        return { answer: error.response, request };
      throw clientError(error, request);
    }
  }

  return {
    url: base,
    async get(path, query, options) {
      return read(await send("get", path, { query }, options?.signal));
    },
    async getAnswer(path, options) {
      return answered(await send("get", path, {}, options?.signal));
    },
    async page<T>(path: string, query: Query, options?: RequestOptions) {
      const exchange = await send("get", path, { query }, options?.signal);
      return pageOf(await read<T[]>(exchange), exchange.answer.headers.get("link"));
    },
    async logPage<T>(path: string, query: Query, options?: RequestOptions) {
      const exchange = await send("get", path, { query }, options?.signal);
      const { answer, request } = exchange;
      const cursor = answer.headers.get("next-cursor");
      if (cursor === null) throw errorOfAnswer(answer, request, undefined, "without the header Next-Cursor");
      return { ...pageOf(await read<T[]>(exchange), answer.headers.get("link")), cursor };
    },
    async bytes(path, options) {
      const { answer } = await send("get", path, {}, options?.signal);
      return new Uint8Array(await answer.arrayBuffer());
    },
    async post(path, json, idempotencyKey = crypto.randomUUID(), options) {
      return answered(await send("post", path, { json, idempotencyKey }, options?.signal));
    },
    async patch(path, json, options) {
      return read(await send("patch", path, { json }, options?.signal));
    },
    async delete(path, options) {
      await send("delete", path, {}, options?.signal);
    },
  };
}

/** Reads each answer to its end, so that a connection that breaks in the middle of one counts as lost too. */
function wholeAnswers(fetch: FetchRequest, token: string): (input: string | URL | Request) => Promise<Response> {
  return async (input) => {
    const request = input as Request; // ky passes nothing else
    try {
      const answer = await fetch(request);
      const { status, statusText, headers } = answer;
      const body = answer.body === null ? null : await answer.arrayBuffer();
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      if (request.signal.aborted) throw error;
      const cause = printableCause(error, (text) => (token === "" ? text : text.replaceAll(token, "…")));
      const { origin, pathname: path } = new URL(request.url);
      const details = { request: { method: request.method, path }, cause };
      throw new RingportError("network_error", `${origin} gave no answer: ${cause.message}`, details);
    }
  };
}

/** Errors of ky hold the request with the token and the body, so none of them becomes a cause. */
function clientError(error: unknown, request: RequestLine): unknown {
  if (isHTTPError(error)) return errorOfAnswer(error.response, request, error.data);
  if (isTimeoutError(error)) return new RingportError("timeout", "the server did not answer in time", { request });
  return error;
}

async function answered<T>(exchange: Exchange): Promise<Answered<T>> {
  const { status, headers } = exchange.answer;
  return { body: await read<T>(exchange), status, headers };
}

/** The error of the parser quotes the body, so it is no cause. */
async function read<T>({ answer, request }: Exchange): Promise<T> {
  try {
    return (await answer.json()) as T;
  } catch {
    throw errorOfAnswer(answer, request, undefined, "with a body that is not JSON");
  }
}

function search(query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  const text = given.toString();
  return text === "" ? "" : `?${text}`;
}
