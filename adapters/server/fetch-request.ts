import type { RequestLike } from "../../src/ports/web.ts";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** A WHATWG request in the form that the core expects: reading its body can stop early and resume later. */
export class ServerRequest implements RequestLike {
  readonly #request: Request;
  #reader: Reader | undefined;
  #hasEnded = false;

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

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get body(): AsyncIterable<Uint8Array> | null {
    const reader = this.bodyReader();
    if (!reader) return null;
    const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      const { done, value } = await reader.read();
      this.#hasEnded = done;
      return done ? { done, value: undefined } : { done, value };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** The rest of the body; null if there is none. */
  protected bodyReader(): Reader | null {
    if (this.#hasEnded) return null;
    this.#reader ??= this.#request.body?.getReader();
    return this.#reader ?? null;
  }
}
