import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { CallEvent } from "../../../../src/client/index.ts";
import { beginnings, onEvents } from "./live.ts";

/** Data that a view reads from the server. */
export interface Data<T> {
  /** Undefined until it has arrived. */
  readonly value: ReadonlySignal<T | undefined>;
  /** Fault of the latest attempt. */
  readonly fault: ReadonlySignal<unknown>;
  /** Reads it again. */
  reload(): Promise<void>;
  /** Replaces the value with a newer one from the view, such as the list with a new item. */
  set(value: T): void;
}

/**
 * Reads data, and reads it again after each event that concerns it: a view never polls.
 *
 * ```tsx
 * const calls = useData((signal) => client.calls.page({ limit: 50 }, { signal }), (event) => event.call_id !== null);
 * return <Loaded data={calls}>{({ items }) => <CallTable calls={items} />}</Loaded>;
 * ```
 *
 * @param concerns returns true if an event changes the data. Default: no event does
 * @param key the data is read again when this changes
 */
export function useData<T>(
  read: (signal: AbortSignal) => Promise<T>,
  concerns?: (event: CallEvent) => boolean,
  key: unknown = undefined,
): Data<T> {
  const value = useSignal<T | undefined>(undefined);
  const fault = useSignal<unknown>(undefined);
  const latest = useRef({ read, concerns });
  latest.current = { read, concerns };
  const reload = useRef(async () => {});

  // The key represents everything that the function depends on.
  useEffect(() => {
    const stop = new AbortController();
    let running: Promise<void> | undefined;
    let again = false;
    const once = async (): Promise<void> => {
      do {
        again = false;
        try {
          const next = await latest.current.read(stop.signal);
          if (stop.signal.aborted) return;
          value.value = next;
          fault.value = undefined;
        } catch (error) {
          if (stop.signal.aborted) return;
          fault.value = error;
        }
      } while (again);
    };
    reload.current = () => {
      if (running !== undefined) again = true; // the read in progress may predate the event
      running ??= once().finally(() => {
        running = undefined;
      });
      return running;
    };
    void reload.current();
    const unfollow = onEvents((events) => {
      if (events.some((event) => latest.current.concerns?.(event))) void reload.current();
    });
    const seenCount = beginnings.peek();
    const unsubscribe = beginnings.subscribe((count) => {
      if (count !== seenCount && latest.current.concerns !== undefined) void reload.current();
    });
    return () => {
      stop.abort();
      unfollow();
      unsubscribe();
    };
  }, [key]);

  return {
    value,
    fault,
    reload: () => reload.current(),
    set: (next) => {
      value.value = next;
    },
  };
}
