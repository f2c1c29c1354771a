import { signal } from "@preact/signals";

/** True while the server responds: false after a request without a response, until a later one succeeds. */
export const isServerReachable = signal(true);

const listeners = new Set<() => void>();

/** Calls the listener after every 401 response: the session may have ended. */
export function onUnauthorized(listener: () => void): void {
  listeners.add(listener);
}

/** `fetch` that keeps {@link isServerReachable} up to date. */
export async function watchedFetch(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    // A proxy responds in place of a server that is down.
    isServerReachable.value = response.status !== 502 && response.status !== 504;
    if (response.status === 401) for (const listener of listeners) listener();
    return response;
  } catch (error) {
    if (!request.signal.aborted) isServerReachable.value = false;
    throw error;
  }
}
