import { effect, signal } from "@preact/signals";
import type { CallEvent } from "../../../../src/client/index.ts";
import { client } from "./client.ts";
import { account } from "./session.ts";

/** Pause after a failed connection, ms; by then the client has already retried several times. */
const PAUSE_MS = 2_000;

type Listener = (events: readonly CallEvent[]) => void;
const listeners = new Set<Listener>();

/**
 * Number of times that this tab has started the event stream. Events from before a start may have been missed, so all
 * data is read again.
 */
export const streamStarts = signal(0);

/**
 * Calls the listener with all new events of the account's instances and calls, as they are stored. @returns a function
 * that removes the listener
 */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the signed-in user's events: one connection for the whole tab. */
export function startLive(): void {
  let user: string | undefined;
  let controller = new AbortController();
  effect(() => {
    const id = account.value?.id;
    if (id === user) return;
    user = id;
    controller.abort();
    controller = new AbortController();
    if (id !== undefined) void follow(controller.signal);
  });
}

async function follow(signal: AbortSignal): Promise<void> {
  let cursor: string | undefined;
  while (!signal.aborted) {
    try {
      if (cursor === undefined) {
        ({ cursor } = await client.eventPage({ cursor: "latest" }, { signal }));
        streamStarts.value++;
      }
      for await (const page of client.followEvents({ cursor }, { signal })) {
        cursor = page.cursor;
        if (page.reset) streamStarts.value++;
        for (const listener of listeners) listener(page.items);
      }
    } catch {
      await pauseOrOnline(signal);
    }
  }
}

/** Pauses; resolves early when the browser is online again. */
function pauseOrOnline(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      removeEventListener("online", finish);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, PAUSE_MS);
    addEventListener("online", finish);
    signal.addEventListener("abort", finish);
  });
}
