import { Refusal } from "../../domain/refusal.ts";
import type { System } from "../../ports/system.ts";
import type { RequestLike } from "../../ports/web.ts";
import { HttpRefusal } from "../problems/problem.ts";

/** Maximum wait for the next bytes of a body, ms. */
const STALL_MS = 30_000;
/** Maximum time for a whole body, ms: 16 MiB over a slow connection. */
export const BODY_TIMEOUT_MS = 120_000;

/**
 * The body as chunks. Reading fails as soon as the body exceeds `limit` bytes or arrives too slowly.
 * @param tooLargeText detail of the refusal if the body is larger
 * @throws {Refusal} `body_too_large`, `request_timeout`; `invalid_json` if the body ended prematurely
 */
export function limitedBody(
  request: RequestLike,
  limit: number,
  system: System,
  tooLargeText = `the body is larger than ${limit} bytes`,
): AsyncIterable<Uint8Array> | null {
  const sizeRefusal = (): Refusal => new HttpRefusal("body_too_large", tooLargeText, { members: { limit } });
  if (declaredBytes(request) > limit) throw sizeRefusal();
  return request.body && limitedChunks(request.body, limit, { system, signal: request.signal, sizeRefusal });
}

/** The Content-Length, bytes; 0 if it is missing. */
export function declaredBytes({ headers }: RequestLike): number {
  return Number(headers.get("content-length") ?? 0) || 0;
}

async function* limitedChunks(
  body: AsyncIterable<Uint8Array>,
  limit: number,
  bound: BodyBound,
): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const timeout = new BodyTimeout(bound);
  let bytes = 0;
  let isDone = false;
  try {
    for (;;) {
      const next = await timeout.within(chunks.next()).catch((cause: unknown) => {
        if (cause instanceof Refusal) throw cause;
        isDone = true;
        throw new Refusal("invalid_json", "the body ended prematurely", { cause });
      });
      isDone = next.done === true;
      if (next.done) return;
      bytes += next.value.byteLength;
      if (bytes > limit) throw bound.sizeRefusal();
      yield next.value;
    }
  } finally {
    timeout.stop();
    // Not awaited: a source that hangs during its cancellation must not delay the response.
    if (!isDone) void Promise.resolve(chunks.return?.()).catch(() => {});
  }
}

/** Limits on reading a body. */
interface BodyBound {
  readonly system: System;
  /** Aborted when the client's connection closes. */
  readonly signal: AbortSignal | undefined;
  /** The refusal of a larger body. */
  sizeRefusal(): Refusal;
}

/** Refuses a body that stalls or takes too long, or whose connection closes, with a single timer for all chunks. */
class BodyTimeout {
  readonly #system: System;
  readonly #signal: AbortSignal | undefined;
  readonly #endsAt: number;
  #stallsAt: number;
  #cancel: () => void;
  #refuse: ((cause: unknown) => void) | undefined;
  readonly #abort = (): void => this.#refuse?.(this.#signal?.reason);

  constructor({ system, signal }: BodyBound) {
    const now = system.monotonic();
    this.#system = system;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort);
    this.#endsAt = now + BODY_TIMEOUT_MS;
    this.#stallsAt = now + STALL_MS;
    this.#cancel = system.after(STALL_MS, () => this.#check());
  }

  /**
   * Settles like `next`, or rejects: with a refusal if `next` is too slow, with the signal's reason if the connection
   * closes.
   */
  within<T>(next: Promise<T>): Promise<T> {
    this.#stallsAt = this.#system.monotonic() + STALL_MS;
    return new Promise((resolve, reject) => {
      this.#refuse = reject;
      if (this.#signal?.aborted) this.#abort();
      next.then(resolve, reject);
    });
  }

  stop(): void {
    this.#cancel();
    this.#signal?.removeEventListener("abort", this.#abort);
  }

  #check(): void {
    const remainingMs = Math.min(this.#endsAt, this.#stallsAt) - this.#system.monotonic();
    if (remainingMs > 0) this.#cancel = this.#system.after(remainingMs, () => this.#check());
    else this.#refuse?.(timeoutRefusal(this.#stallsAt < this.#endsAt ? STALL_MS : BODY_TIMEOUT_MS));
  }
}

function timeoutRefusal(ms: number): Refusal {
  const fault = ms === STALL_MS ? "no bytes of the body arrived" : "the body was not complete";
  return new HttpRefusal("request_timeout", `${fault} within ${ms / 1000} s`);
}
