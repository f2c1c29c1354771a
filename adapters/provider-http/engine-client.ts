import ky, { HTTPError, type KyInstance, TimeoutError } from "ky";
import { TurnBudget } from "../../src/base/turn-budget.ts";

/** Options of {@link engineClient}. */
export interface EngineClientOptions {
  /** Sent as a bearer token. */
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Longest wait for the start of a response, ms. */
  readonly timeoutMs: number;
}

const RETRIES = 2;
const MAX_RETRY_DELAY_MS = 3_000;

/**
 * Number of requests that all clients together start per turn of the event loop; each takes about 2 ms, response
 * included.
 */
const startBudget = new TurnBudget(1);

/**
 * An HTTP client for a speech or transcription server. A request is repeated (at most twice) if the connection is lost
 * before the response begins, or if the server is busy. A request that times out is not repeated: the server may still
 * be working on it.
 */
export function engineClient({ apiKey, headers, timeoutMs }: EngineClientOptions): KyInstance {
  return ky.create({
    headers: { ...headers, ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
    timeout: timeoutMs,
    // Calls whose callees stop speaking at the same time must not delay each other's frames.
    hooks: { beforeRequest: [() => startBudget.take(1)] },
    retry: {
      limit: RETRIES,
      methods: ["post"],
      statusCodes: [408, 429, 500, 502, 503, 504],
      afterStatusCodes: [429, 503],
      maxRetryAfter: MAX_RETRY_DELAY_MS,
      backoffLimit: MAX_RETRY_DELAY_MS,
      // Each runtime reports a lost connection in its own way, and ky does not recognise all of them. Timeouts and
      // aborted requests are not repeated.
      shouldRetry: ({ error }) =>
        error instanceof HTTPError ? undefined : !(error instanceof TimeoutError) && error.name !== "AbortError",
    },
  });
}
