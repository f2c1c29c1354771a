import type { Reply } from "../../src/ports/web.ts";

/** A reply as a WHATWG response, which is how Bun and Deno want a refused WebSocket. */
export function toResponse({ status, headers, body }: Reply): Response {
  return new Response((body ?? null) as string | Uint8Array<ArrayBuffer> | null, { status, headers });
}
