import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { CallEvent } from "../../../../src/client/index.ts";
import { onEvents, streamStarts } from "./live.ts";

/** Data that a view reads from the server. */
export interface Data<T> {
  /** Undefined until the data has arrived. */
  readonly value: ReadonlySignal<T | undefined>;
  /** Fault of the latest attempt. */
  readonly fault: ReadonlySignal<unknown>;
  /** Reads the data again. */
  reload(): Promise<void>;
  /** Replaces the value, for example with the response to a change. */
  set(value: T): void;
}

/**
 * Reads data, and reads it again after each event that concerns it, so that views need no polling.
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
    const controller = new AbortController();
    let currentRead: Promise<void> | undefined;
    let isStale = false;
    const readUntilCurrent = async (): Promise<void> => {
      do {
        isStale = false;
        try {
          const next = await latest.current.read(controller.signal);
          if (controller.signal.aborted) return;
          value.value = next;
          fault.value = undefined;
        } catch (error) {
          if (controller.signal.aborted) return;
          fault.value = error;
        }
      } while (isStale);
    };
    reload.current = () => {
      if (currentRead !== undefined) isStale = true; // the read in progress may predate the event
      currentRead ??= readUntilCurrent().finally(() => {
        currentRead = undefined;
      });
      return currentRead;
    };
    void reload.current();
    const unfollow = onEvents((events) => {
      if (events.some((event) => latest.current.concerns?.(event))) void reload.current();
    });
    const initialStarts = streamStarts.peek();
    const unsubscribe = streamStarts.subscribe((count) => {
      if (count !== initialStarts && latest.current.concerns !== undefined) void reload.current();
    });
    return () => {
      controller.abort();
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
