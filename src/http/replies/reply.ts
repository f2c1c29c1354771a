import type { Reply } from "../../ports/web.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { entityTag, matches } from "./entity-tag.ts";
import { inTurns } from "./in-turns.ts";

/** Cache rules for a user's records: stored only in that user's cache, and revalidated on each use. */
export const PRIVATE = { "cache-control": "private, no-cache" } as const;

/** A JSON reply. */
export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

/** The reply to a request for one record: the record with an ETag, or 304 if the client already has this version. */
export function record(context: RequestContext, value: unknown): Reply {
  const body = JSON.stringify(value);
  const headers = { ...PRIVATE, etag: entityTag(body) };
  return (
    notModified(context, headers) ?? { status: 200, headers: { "content-type": "application/json", ...headers }, body }
  );
}

/** A 304 reply if the client already has the version with this ETag (RFC 9110 §13.1.2); otherwise undefined. */
export function notModified(
  context: RequestContext,
  headers: { readonly etag: string; readonly "cache-control": string },
): Reply | undefined {
  const tags = context.header("if-none-match");
  return tags !== null && matches(tags, headers.etag) ? { status: 304, headers } : undefined;
}

/** A reply without a body. */
export function noContent(headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 204, headers: { ...headers } };
}

/** 204, once the work is done. */
export async function noContentAfter(work: Promise<void>): Promise<Reply> {
  await work;
  return noContent();
}

/** An HTML document with a content security policy. */
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

/** Returns a copy of the reply with a name added to its Vary header. */
export function withVary(reply: Reply, name: string): Reply {
  const headers = { ...reply.headers };
  vary(headers, name);
  return { ...reply, headers };
}

/**
 * A reply as a WHATWG response.
 * @param stallMs maximum time for the client to take the next piece of a chunked body, or the response is cut off;
 *   undefined: no limit
 */
export function toResponse(reply: Reply, stallMs?: number): Response {
  const { status, headers, body = null } = reply;
  return new Response(isInPieces(body) ? streamOf(body, stallMs) : (body as string | Uint8Array<ArrayBuffer> | null), {
    status,
    headers,
  });
}

/** True if a body consists of pieces. */
export function isInPieces(body: Reply["body"] | null): body is AsyncIterable<Uint8Array> {
  return body !== undefined && body !== null && typeof body !== "string" && !(body instanceof Uint8Array);
}

/** A stream of the body, which is read no faster than the client takes it. */
function streamOf(body: AsyncIterable<Uint8Array>, stallMs: number | undefined): ReadableStream<Uint8Array> {
  const pieces = inTurns(body);
  let stallTimer: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream({
    async pull(controller) {
      clearTimeout(stallTimer);
      const { done, value } = await pieces.next();
      if (done) {
        controller.close();
        return;
      }
      controller.enqueue(value);
      if (stallMs === undefined) return;
      stallTimer = setTimeout(() => {
        controller.error(new Error(`the client has read nothing for ${stallMs} ms`));
        pieces.return(undefined).catch(() => {});
      }, stallMs);
    },
    async cancel() {
      clearTimeout(stallTimer);
      await pieces.return(undefined);
    },
  });
}
