import { toResponse } from "../../src/http/replies/reply.ts";
import type { Reply } from "../../src/ports/web.ts";
import { type RoutedRequest, sentUrl } from "./bun-paths.ts";
import { ServerRequest } from "./fetch-request.ts";
import { linger } from "./lingering.ts";
import { MAX_DRAINED_BYTES, MAX_DRAINED_MS } from "./listening.ts";

/** A request from `Bun.serve`. */
export class BunRequest extends ServerRequest {
  readonly #sentUrl: string;

  constructor(request: RoutedRequest) {
    super(request);
    this.#sentUrl = sentUrl(request);
  }

  override get url(): string {
    return this.#sentUrl;
  }

  /**
   * The response to this request. Bun closes the connection after a response that is sent before the end of a body, and
   * a client that is still sending gets a reset instead. Such a response is sent immediately, but ends only after the
   * rest of the body has been read, within limits.
   */
  async respond(reply: Reply): Promise<Response> {
    const reader = this.bodyReader();
    if (!reader) return toResponse(reply);
    const drainPromise = drain(reader);
    // A body that has fully arrived counts as read: the connection can be reused.
    if (await Promise.race([drainPromise, pause(0)])) return toResponse(reply);
    const response = toResponse({ ...reply, headers: { ...reply.headers, connection: "close" } });
    const end = async (): Promise<void> => {
      await new Promise<void>((resolve) => void drainPromise.then(linger(resolve)));
      void reader.cancel().catch(() => {});
    };
    if (response.body) return new Response(response.body.pipeThrough(new TransformStream({ flush: end })), response);
    await end();
    return response;
  }
}

/**
 * Reads and discards the rest of the body, within limits; returns true if the end was reached. A disconnected client is
 * not an error.
 */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  const deadline = performance.now() + MAX_DRAINED_MS;
  try {
    for (let remainingBytes = MAX_DRAINED_BYTES; remainingBytes > 0 && performance.now() < deadline; ) {
      const { done, value } = await reader.read();
      if (done) return true;
      remainingBytes -= value.byteLength;
    }
  } catch {
    // The client has disconnected.
  }
  return false;
}

function pause(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, ms, false));
}
