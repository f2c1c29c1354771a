import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { CallEvent } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { beginnings, onEvents } from "../../shell/live.ts";

/** The events of a call so far. */
export interface CallTimelineState {
  readonly events: ReadonlySignal<readonly CallEvent[]>;
  /** Fault of reading the earlier ones. */
  readonly fault: ReadonlySignal<unknown>;
}

/** Reads the timeline of a call once, and adds new events. */
export function useTimeline(callId: string): CallTimelineState {
  const events = useSignal<readonly CallEvent[]>([]);
  const fault = useSignal<unknown>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    events.value = [];
    const add = (more: readonly CallEvent[]): void => {
      const knownIds = new Set(events.peek().map(({ id }) => id));
      const fresh = more.filter(({ id }) => !knownIds.has(id));
      if (fresh.length > 0) events.value = inOrder([...events.peek(), ...fresh]);
    };
    const read = (): Promise<void> =>
      client.calls.events(callId, { signal: stop.signal }).then(
        (all) => {
          fault.value = undefined;
          add(all);
        },
        (error: unknown) => {
          if (!stop.signal.aborted) fault.value = error;
        },
      );
    const unfollow = onEvents((all) => add(all.filter(({ call_id }) => call_id === callId)));
    // Also called at once, because events from before the first page of the log have to be read.
    const unsubscribe = beginnings.subscribe(() => void read());
    return () => {
      stop.abort();
      unfollow();
      unsubscribe();
    };
  }, [callId]);
  return { events, fault };
}

/** By their time; ids break ties, and rise with time. */
function inOrder(events: CallEvent[]): CallEvent[] {
  return events.sort((a, b) => a.timestamp.localeCompare(b.timestamp) || a.id.localeCompare(b.id));
}
