import { isHTTPError, isTimeoutError, type RetryOptions } from "ky";
import { RingportError, retryAfterOf } from "./ringport-error.ts";

/** A request is sent again at most so often, unless told otherwise. */
export const RETRIES = 4;

/** A server that asks for a longer wait is not asked again: the caller should decide. Seconds. */
const LONGEST_RETRY_AFTER = 30;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;

/** Statuses that pass by themselves; 502 and 504 come from proxies that could not reach the server. */
const PASSING = [429, 502, 503, 504];
/** Passing as well where the answer says when: an idempotency key in progress, a recording that is being written. */
const CONFLICT = 409;

/**
 * When a request is sent again. All are safe to repeat: a GET, a PATCH and a DELETE by nature, a POST by its idempotency key.
 * @param onLost called when it is unknown what became of an attempt
 */
export function retryOptions(limit: number, onLost: () => void): RetryOptions {
  return {
    limit,
    methods: ["get", "post", "patch", "delete"],
    statusCodes: [...PASSING, CONFLICT],
    afterStatusCodes: [...PASSING, CONFLICT],
    delay: (attempt) => FIRST_DELAY_MS * 2 ** (attempt - 1),
    backoffLimit: LONGEST_DELAY_MS,
    jitter: (delay) => delay * (0.75 + Math.random() / 2),
    shouldRetry: ({ error }) => {
      if (isHTTPError(error)) {
        const { status, headers } = error.response;
        const retryAfter = retryAfterOf(headers);
        if (status === CONFLICT && retryAfter === undefined) return false;
        // A gateway gave up waiting; the server may have done it all the same.
        if (status === 502 || status === 504) onLost();
        return retryAfter !== undefined && retryAfter > LONGEST_RETRY_AFTER ? false : undefined;
      }
      const lost = isTimeoutError(error) || error instanceof RingportError;
      if (lost) onLost();
      return lost;
    },
  };
}
