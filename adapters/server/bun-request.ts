import { toResponse } from "../../src/http/reply.ts";
import type { Reply, RequestLike } from "../../src/ports/web.ts";
import { MOST_DRAINED_BYTES, MOST_DRAINED_MS, SMALL_REST } from "./listening.ts";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** A Bun request as the core wants it: its body can be left early and read on later. */
export class BunRequest implements RequestLike {
  readonly #request: Request;
  #reader: Reader | undefined;
  #ended = false;

  constructor(request: Request) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  get url(): string {
    return this.#request.url;
  }

  get headers(): Headers {
    return this.#request.headers;
  }

  get body(): AsyncIterable<Uint8Array> | null {
    const reader = this.#unread();
    if (!reader) return null;
    const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      const { done, value } = await reader.read();
      this.#ended = done;
      return done ? { done, value: undefined } : { done, value };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /**
   * The reply to this request. Bun lets go of the connection together with an answer that comes before the end of a
   * body, and a client that is still sending gets a reset instead of it. So such an answer is sent at once but ends
   * after the rest of the body, read within bounds.
   */
  answer(reply: Reply): Response | Promise<Response> {
    const reader = this.#isStillComing() ? this.#unread() : null;
    return reader ? this.#answerEarly(reply, reader) : toResponse(reply);
  }

  async #answerEarly(reply: Reply, reader: Reader): Promise<Response> {
    const response = toResponse({ ...reply, headers: { ...reply.headers, connection: "close" } });
    if (response.body)
      return new Response(
        endingAfter(response.body, () => drain(reader)),
        response,
      );
    await drain(reader);
    return response;
  }

  /** Whether the client may still be sending a large body. */
  #isStillComing(): boolean {
    if (this.#ended || this.#request.body === null) return false;
    const length = this.headers.get("content-length");
    return length === null ? this.headers.has("transfer-encoding") : Number(length) > SMALL_REST;
  }

  #unread(): Reader | null {
    this.#reader ??= this.#request.body?.getReader();
    return this.#reader ?? null;
  }
}

/** The same bytes, sent at once; the end comes when the work is done. */
function endingAfter(body: ReadableStream<Uint8Array>, work: () => Promise<void>): ReadableStream<Uint8Array> {
  return body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({ flush: work }));
}

/** Reads and drops what still comes, within bounds. A client that has gone is no error. */
async function drain(reader: Reader): Promise<void> {
  const impatience = setTimeout(() => void reader.cancel().catch(() => {}), MOST_DRAINED_MS);
  try {
    for (let left = MOST_DRAINED_BYTES; left > 0; ) {
      const { done, value } = await reader.read();
      if (done) return;
      left -= value.byteLength;
    }
  } catch {
    // It has gone.
  } finally {
    clearTimeout(impatience);
  }
}
