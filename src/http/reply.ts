import type { Reply } from "../ports/web.ts";
import { entityTag, matches } from "./entity-tag.ts";
import type { RequestContext } from "./request-context.ts";

/** What caches may do with a caller's records: keep them for him, and ask each time. */
export const PRIVATE = { "cache-control": "private, no-cache" } as const;

/** A JSON reply. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

/** The reply to a read of one record: with an ETag, or 304 where the client has this very record. */
export function record(context: RequestContext, value: unknown): Reply {
  const body = JSON.stringify(value);
  const headers = { ...PRIVATE, etag: entityTag(body) };
  return (
    notModified(context, headers) ?? { status: 200, headers: { "content-type": "application/json", ...headers }, body }
  );
}

/** 304 where the client has what the tag stands for (RFC 9110 §13.1.2); undefined where it has to be sent. */
export function notModified(
  context: RequestContext,
  headers: { readonly etag: string; readonly "cache-control": string },
): Reply | undefined {
  const known = context.header("if-none-match");
  return known !== null && matches(known, headers.etag) ? { status: 304, headers } : undefined;
}

/** A reply without a body. */
export function noContent(headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 204, headers: { ...headers } };
}

/** A page of HTML that may be framed by nobody and may load only what the policy says. */
export function html(body: string, contentSecurityPolicy: string): Reply {
  return {
    status: 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy,
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    },
    body,
  };
}

/** Adds a name to the Vary header. */
export function vary(headers: Record<string, string>, name: string): void {
  headers.vary = headers.vary ? `${headers.vary}, ${name}` : name;
}

/**
 * A reply as a WHATWG response.
 * @param stallMs a body in pieces breaks off if the next piece is not taken within this time; undefined: never
 */
export function toResponse(reply: Reply, stallMs?: number): Response {
  const { status, headers, body = null } = reply;
  return new Response(isInPieces(body) ? streamOf(body, stallMs) : (body as string | Uint8Array<ArrayBuffer> | null), {
    status,
    headers,
  });
}

/** Whether a body comes in pieces. */
export function isInPieces(body: Reply["body"] | null): body is AsyncIterable<Uint8Array> {
  return body !== undefined && body !== null && typeof body !== "string" && !(body instanceof Uint8Array);
}

/** The same bytes, read no faster than they are taken. */
function streamOf(body: AsyncIterable<Uint8Array>, stallMs: number | undefined): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  let stalled: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream({
    async pull(controller) {
      clearTimeout(stalled);
      const { done, value } = await pieces.next();
      if (done) {
        controller.close();
        return;
      }
      controller.enqueue(value);
      if (stallMs === undefined) return;
      stalled = setTimeout(() => {
        controller.error(new Error(`the client has taken nothing for ${stallMs} ms`));
        Promise.resolve(pieces.return?.()).catch(() => {});
      }, stallMs);
    },
    async cancel() {
      clearTimeout(stalled);
      await pieces.return?.();
    },
  });
}
