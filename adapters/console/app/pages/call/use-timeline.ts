import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { CallEvent } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { onEvents, streamStarts } from "../../shell/live.ts";

/** The events of a call so far. */
export interface CallTimelineState {
  readonly events: ReadonlySignal<readonly CallEvent[]>;
  /** Fault of the request for earlier events. */
  readonly fault: ReadonlySignal<unknown>;
}

/** Reads a call's timeline once, and adds new events. */
export function useTimeline(callId: string): CallTimelineState {
  const events = useSignal<readonly CallEvent[]>([]);
  const fault = useSignal<unknown>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    events.value = [];
    const add = (newEvents: readonly CallEvent[]): void => {
      const knownIds = new Set(events.peek().map(({ id }) => id));
      const unknownEvents = newEvents.filter(({ id }) => !knownIds.has(id));
      if (unknownEvents.length > 0) events.value = inOrder([...events.peek(), ...unknownEvents]);
    };
    const read = (): Promise<void> =>
      client.calls.events(callId, { signal: controller.signal }).then(
        (allEvents) => {
          fault.value = undefined;
          add(allEvents);
        },
        (error: unknown) => {
          if (!controller.signal.aborted) fault.value = error;
        },
      );
    const unfollow = onEvents((newEvents) => add(newEvents.filter(({ call_id }) => call_id === callId)));
    // Also called immediately, to read the events before the first page of the log.
    const unsubscribe = streamStarts.subscribe(() => void read());
    return () => {
      controller.abort();
      unfollow();
      unsubscribe();
    };
  }, [callId]);
  return { events, fault };
}

/** Sorts by time, then by id; ids rise with time. */
function inOrder(events: CallEvent[]): CallEvent[] {
  return events.sort((a, b) => a.timestamp.localeCompare(b.timestamp) || a.id.localeCompare(b.id));
}
