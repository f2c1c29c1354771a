import { TransportError } from "./transport.ts";

/** The result of the promise; rejects with the fault `closed` as soon as the signal is aborted. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(new TransportError("closed", "the operation was aborted"));
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}
