import ky, { isHTTPError, isTimeoutError } from "ky";
import { type LogPage, type Page, pageOf } from "./pages.ts";
import { RETRIES, retryOptions } from "./retries.ts";
import { errorOfAnswer, RingportError } from "./ringport-error.ts";

/** Sends a request; the global `fetch` is one, and so is the `fetch` of a Ringport in the same process. */
export type FetchRequest = (request: Request) => Promise<Response>;

/** How the server is reached. */
export interface ClientOptions {
  /** Where the server is, base path included, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** A bearer token. */
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
  delete(path: string, options?: RequestOptions): Promise<void>;
}

type Method = "get" | "post" | "delete";
interface Sending {
  readonly query?: Query;
  readonly json?: unknown;
  readonly idempotencyKey?: string;
}

const TIMEOUT_MS = 60_000;

/** @throws {TypeError} the URL is not absolute */
export function createTransport({ url, token, fetch, retries, timeoutMs }: ClientOptions): Transport {
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    throw new TypeError(`url is "${url}": give the whole address, such as http://127.0.0.1:8080`);
  const base = url.replace(/\/+$/, "");
  const client = ky.create({
    headers: { authorization: `Bearer ${token}` },
    fetch: wholeAnswers(fetch ?? ((request) => globalThis.fetch(request))),
    timeout: timeoutMs ?? TIMEOUT_MS,
  });

  async function send(method: Method, path: string, sending: Sending, signal?: AbortSignal): Promise<Response> {
    signal?.throwIfAborted();
    let lost = false;
    const retry = retryOptions(retries ?? RETRIES, () => {
      lost = true;
    });
    const headers = sending.idempotencyKey === undefined ? {} : { "idempotency-key": sending.idempotencyKey };
    try {
      return await client(`${base}${path}${search(sending.query ?? {})}`, {
        method,
        headers,
        retry,
        ...(sending.json === undefined ? {} : { json: sending.json }),
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      // The attempt whose answer was lost did it, and now it is gone: that is what was wanted.
      if (isHTTPError(error) && method === "delete" && lost && error.response.status === 404) return error.response;
      throw clientError(error);
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
      const answer = await send("get", path, { query }, options?.signal);
      return pageOf(await read<T[]>(answer), answer.headers.get("link"));
    },
    async logPage<T>(path: string, query: Query, options?: RequestOptions) {
      const answer = await send("get", path, { query }, options?.signal);
      const cursor = answer.headers.get("next-cursor");
      if (cursor === null) throw errorOfAnswer(answer, undefined, new Error("the header Next-Cursor is missing"));
      return { ...pageOf(await read<T[]>(answer), answer.headers.get("link")), cursor };
    },
    async bytes(path, options) {
      return new Uint8Array(await (await send("get", path, {}, options?.signal)).arrayBuffer());
    },
    async post(path, json, idempotencyKey = crypto.randomUUID(), options) {
      return answered(await send("post", path, { json, idempotencyKey }, options?.signal));
    },
    async delete(path, options) {
      await send("delete", path, {}, options?.signal);
    },
  };
}

/** Reads each answer to its end, so that a connection that breaks in the middle of one counts as lost too. */
function wholeAnswers(fetch: FetchRequest): (input: string | URL | Request) => Promise<Response> {
  return async (input) => {
    const request = input as Request; // ky passes nothing else
    try {
      const answer = await fetch(request);
      const { status, statusText, headers } = answer;
      const body = answer.body === null ? null : await answer.arrayBuffer();
      return new Response(body, { status, statusText, headers });
    } catch (cause) {
      if (request.signal.aborted) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new RingportError("network_error", `${new URL(request.url).origin} gave no answer: ${why}`, { cause });
    }
  };
}

function clientError(error: unknown): unknown {
  if (isHTTPError(error)) return errorOfAnswer(error.response, error.data, error);
  if (isTimeoutError(error)) return new RingportError("timeout", "the server did not answer in time", { cause: error });
  return error;
}

async function answered<T>(answer: Response): Promise<Answered<T>> {
  return { body: await read<T>(answer), status: answer.status, headers: answer.headers };
}

async function read<T>(answer: Response): Promise<T> {
  try {
    return (await answer.json()) as T;
  } catch (cause) {
    throw errorOfAnswer(answer, undefined, cause);
  }
}

function search(query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  const text = given.toString();
  return text === "" ? "" : `?${text}`;
}
