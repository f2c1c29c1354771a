import { toResponse } from "../../src/http/replies/reply.ts";
import type { Reply } from "../../src/ports/web.ts";
import { FetchRequest } from "./fetch-request.ts";
import { linger } from "./lingering.ts";

/** A request of `Deno.serve`. */
export class DenoRequest extends FetchRequest {
  /** Deno has no limit for a message, and passes it on only once it has all of it. */
  readonly buffersMessages = true;

  /**
   * The reply to this request. After a response that comes before the end of a body, Deno keeps the connection for as
   * long as the client does. The one thing that ends it is a response whose stream breaks off while nothing is being
   * read. So a refusal is sent whole, with its length, and its stream breaks off later, when the client has read it.
   * @param stallMs how long the client may take nothing of it
   */
  answer(reply: Reply, stallMs: number): Response {
    const { status, headers, body } = reply;
    if (status < 400 || typeof body !== "string" || !this.#isSent || !this.unread()) return toResponse(reply, stallMs);
    const bytes = new TextEncoder().encode(body);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes);
        linger(() => controller.error(new Error("the client may still be sending its body")));
      },
    });
    const length = String(bytes.length);
    return new Response(stream, { status, headers: { ...headers, "content-length": length, connection: "close" } });
  }

  /** Whether the client sends a body: Deno makes an empty one for a DELETE without. */
  get #isSent(): boolean {
    return this.headers.has("transfer-encoding") || Number(this.headers.get("content-length")) > 0;
  }
}
