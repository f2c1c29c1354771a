import { useEffect, useRef } from "preact/hooks";
import type { CallEvent } from "../../../../../src/client/index.ts";
import { onEvents } from "../../shell/live.ts";
import { type Data, useData } from "../../shell/use-data.ts";

/** Minimum time between two reads caused by events, ms: many of a batch's calls may end within a second. */
const MIN_INTERVAL_MS = 2_000;

/** Reads data like `useData`, but at most every two seconds, however many events concern the data. */
export function useLiveData<T>(
  read: (signal: AbortSignal) => Promise<T>,
  concerns: (event: CallEvent) => boolean,
  key?: unknown,
): Data<T> {
  // If there is a function, `useData` also reads again when events may have been missed.
  const data = useData(read, () => false, key);
  const latest = useRef(concerns);
  latest.current = concerns;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastAt = 0;
    const unfollow = onEvents((events) => {
      if (timer !== undefined || !events.some((event) => latest.current(event))) return;
      timer = setTimeout(
        () => {
          timer = undefined;
          lastAt = Date.now();
          void data.reload();
        },
        Math.max(0, lastAt + MIN_INTERVAL_MS - Date.now()),
      );
    });
    return () => {
      clearTimeout(timer);
      unfollow();
    };
  }, [key]);
  return data;
}

/** True for an event of the batch itself or of one of its targets. */
export function isOfBatch(event: CallEvent, batchId: string): boolean {
  return (event.data as { readonly batch_id?: unknown }).batch_id === batchId;
}

/** True for an event that begins or ends a call, of any batch. */
export function changesCalls({ type }: CallEvent): boolean {
  return type === "queued" || type === "completed" || type === "failed";
}
