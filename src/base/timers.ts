/** Timers, as the `System` port provides them. */
export interface Timers {
  /** Calls `run` once after `ms`; the result cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function pause(system: Timers, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = system.after(ms, finish);
    signal.addEventListener("abort", finish);
  });
}

/** Time limit of a wait, and a signal that ends it. */
interface WaitOptions {
  readonly system: Timers;
  readonly ms: number;
  /** Creates the error to reject with after the time limit. */
  readonly timeoutError: () => Error;
  /** Ends the wait as well, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Settles as the work does, or rejects when the time limit has passed. The work itself continues. */
export function within<T>(work: Promise<T>, { system, ms, timeoutError, signal }: WaitOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      cleanUp();
      reject(error);
    };
    const onAbort = () => fail(signal?.reason);
    const cancel = system.after(ms, () => fail(timeoutError()));
    const cleanUp = () => {
      cancel();
      signal?.removeEventListener("abort", onAbort);
    };
    work.then((result) => {
      cleanUp();
      resolve(result);
    }, fail);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort);
  });
}
