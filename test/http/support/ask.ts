import type { Reply, RequestLike, WebApp } from "../../../src/ports/web.ts";
import { checkAgainstDocument } from "./document.ts";
import { TOKEN } from "./fakes.ts";

/** A request that a test sends. */
export interface TestRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** A JSON value, or the bytes in the pieces in which they arrive. */
  body?: unknown;
  /** `null` for no token. Default: a valid token. */
  token?: string | null;
  /** Aborted when the client's connection closes. */
  signal?: AbortSignal;
}

/** A reply with its body decoded. */
export interface DecodedReply {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read JSON of every shape
  json: any;
  raw: Reply;
}

export function requestOf({
  method = "GET",
  path,
  headers = {},
  body,
  token = TOKEN,
  signal,
}: TestRequest): RequestLike {
  const allHeaders = new Headers(token === null ? headers : { authorization: `Bearer ${token}`, ...headers });
  const url = `http://127.0.0.1:8080${path}`;
  return { method, url, headers: allHeaders, body: body === undefined ? null : stream(body), signal };
}

async function* stream(body: unknown): AsyncGenerator<Uint8Array> {
  if (typeof body === "object" && body !== null && Symbol.asyncIterator in body)
    yield* body as AsyncIterable<Uint8Array>;
  else if (body instanceof Uint8Array) yield body;
  else yield new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}

/** Sends a request, and checks the reply against the application's own OpenAPI document. */
export async function ask(app: WebApp, request: TestRequest): Promise<DecodedReply> {
  const reply = decodedReply(await app.handle(requestOf(request)));
  await checkAgainstDocument(app, request.method ?? "GET", request.path, reply);
  return reply;
}

export function decodedReply(raw: Reply): DecodedReply {
  const text = raw.body instanceof Uint8Array ? new TextDecoder().decode(raw.body) : String(raw.body ?? "");
  const type = raw.headers["content-type"] ?? "";
  return {
    status: raw.status,
    headers: raw.headers,
    text,
    json: type.includes("json") && JSON.parse(text || "null"),
    raw,
  };
}
