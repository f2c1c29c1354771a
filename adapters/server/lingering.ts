import { MAX_DRAINED_MS } from "./listening.ts";

/** Maximum number of lingering connections: Bun and Deno buffer up to 1 MiB on each, even if no data is consumed. */
const MAX_LINGERING = 16;

/** Functions that close the connections left open after an early response, oldest first. */
const pendingEnds = new Set<() => void>();

/**
 * Calls `end` once: when a client that is still sending has had time to read an early response, or as soon as too many
 * other connections are waiting. The returned function calls `end` immediately.
 */
export function linger(end: () => void): () => void {
  const endNow = (): void => {
    clearTimeout(timer);
    if (pendingEnds.delete(endNow)) end();
  };
  const timer = setTimeout(endNow, MAX_DRAINED_MS);
  pendingEnds.add(endNow);
  if (pendingEnds.size > MAX_LINGERING) pendingEnds.values().next().value?.();
  return endNow;
}
