import { TransportError } from "./transport.ts";

/** What comes of the promise, unless the signal fires first: then a `closed`, whatever becomes of the promise. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(new TransportError("closed", "It was given up before it was done"));
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}
