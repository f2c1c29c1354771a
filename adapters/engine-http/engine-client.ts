import ky, { HTTPError, type KyInstance, TimeoutError } from "ky";

/** What all requests to the server of an engine have in common. */
export interface EngineClientOptions {
  /** Sent as a bearer token. */
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long the server may take to begin its answer, ms. */
  readonly timeoutMs: number;
}

const RETRIES = 2;
const LONGEST_RETRY_DELAY_MS = 3_000;

/**
 * Makes requests to the server of an engine that speaks or listens. A request is made again (twice at most) where the
 * connection is lost before the server has begun to answer, or where it says that it is busy; one that takes too long
 * is not, for the server may still work on it.
 */
export function engineClient({ apiKey, headers, timeoutMs }: EngineClientOptions): KyInstance {
  return ky.create({
    headers: { ...headers, ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
    timeout: timeoutMs,
    retry: {
      limit: RETRIES,
      methods: ["post"],
      statusCodes: [408, 429, 500, 502, 503, 504],
      afterStatusCodes: [429, 503],
      maxRetryAfter: LONGEST_RETRY_DELAY_MS,
      backoffLimit: LONGEST_RETRY_DELAY_MS,
      // Runtimes say in many ways that a connection was lost, and ky does not know all of them. What took too long, or is
      // not wanted any more, is let be.
      shouldRetry: ({ error }) =>
        error instanceof HTTPError ? undefined : !(error instanceof TimeoutError) && error.name !== "AbortError",
    },
  });
}
