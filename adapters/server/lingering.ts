import { MAX_DRAINED_MS } from "./listening.ts";

/** Bun and Deno read ahead on each open connection, up to 1 MiB, even if no one consumes the data. */
const MAX_LINGERING = 16;

/** Functions that end the connections left open behind an early response; the oldest one first. */
const pendingEnds = new Set<() => void>();

/**
 * Calls `end` once: when a client that is still sending has had its time to read an early response, or as soon as too
 * many other connections wait. The returned function calls `end` immediately.
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
