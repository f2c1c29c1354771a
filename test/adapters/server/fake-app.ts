import type { ServedApp } from "../../../adapters/server/listening.ts";
import type { Reply, RequestLike, SocketHandlers } from "../../../src/ports/web.ts";

/** Handlers of a fake application, each with a default. */
export interface FakeHandlers {
  readonly handle?: (request: RequestLike) => Promise<Reply> | Reply;
  readonly claims?: (url: string) => boolean;
  readonly upgrade?: (request: RequestLike) => Promise<Reply | SocketHandlers> | Reply | SocketHandlers;
}

/** An application for testing server adapters. It echoes requests by default, and accepts every host. */
export function fakeApp({
  handle = echo,
  claims = () => true,
  upgrade = () => textReply(404, "no socket here"),
}: FakeHandlers = {}): ServedApp {
  return {
    publicUrl: "http://calls.example.com",
    handle: async (request) => handle(request),
    claims: async ({ url }) => claims(url),
    fetch: async (request) => {
      const { status, headers, body } = await handle(request);
      return new Response((body ?? null) as string | null, { status, headers });
    },
    upgrade: async (request) => upgrade(request),
  };
}

/** A short text response. */
export function textReply(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return { status, headers: { "content-type": "text/plain", ...headers }, body };
}

/** The whole body of a request as text; "" for none. */
export async function textOf(request: RequestLike): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of request.body ?? []) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Counts at most `limit` bytes of a body and then refuses it, as the HTTP interface does. */
export async function limitedReply(request: RequestLike, limit: number): Promise<Reply> {
  let bytes = 0;
  for await (const piece of request.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > limit) return textReply(413, "too large", { connection: "close" });
  }
  return textReply(200, String(bytes));
}

async function echo(request: RequestLike): Promise<Reply> {
  const { method, url } = request;
  const body = request.body === null ? null : await textOf(request);
  return textReply(200, JSON.stringify({ method, url, type: request.headers.get("content-type"), body }));
}
