import { isHTTPError, isTimeoutError, type RetryOptions } from "ky";
import { RingportError, retryAfterOf } from "./ringport-error.ts";

/** The default number of retries. */
export const RETRIES = 4;

/** Maximum Retry-After that is retried automatically, s; beyond it, the caller decides. */
const MAX_RETRY_AFTER = 30;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;

/** Temporary statuses; 502 and 504 come from proxies that could not reach the server. */
const TEMPORARY_STATUSES = [429, 502, 503, 504];
/**
 * Status that is temporary only with a Retry-After: an idempotency key in progress, a recording that is being written.
 */
const CONFLICT = 409;

/**
 * The retry policy. All requests are safe to repeat: GET, PUT, PATCH and DELETE by nature, POST by its idempotency key.
 * @param onLost called if it is unknown whether the server carried out an attempt
 */
export function retryOptions(limit: number, onLost: () => void): RetryOptions {
  return {
    limit,
    methods: ["get", "post", "put", "patch", "delete"],
    statusCodes: [...TEMPORARY_STATUSES, CONFLICT],
    afterStatusCodes: [...TEMPORARY_STATUSES, CONFLICT],
    delay: (attempt) => FIRST_DELAY_MS * 2 ** (attempt - 1),
    backoffLimit: MAX_DELAY_MS,
    jitter: (delay) => delay * (0.75 + Math.random() / 2),
    shouldRetry: ({ error }) => {
      if (isHTTPError(error)) {
        const { status, headers } = error.response;
        const retryAfter = retryAfterOf(headers);
        if (status === CONFLICT && retryAfter === undefined) return false;
        // A gateway timed out; the server may still have carried out the request.
        if (status === 502 || status === 504) onLost();
        return retryAfter !== undefined && retryAfter > MAX_RETRY_AFTER ? false : undefined;
      }
      const isLost = isTimeoutError(error) || error instanceof RingportError;
      if (isLost) onLost();
      return isLost;
    },
  };
}
