import { type Event, isFinalEvent, withoutPosition } from "../../domain/events.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Context } from "../context.ts";

/**
 * What has happened on a call and what happens, each event once, until the final one.
 * @throws {Refusal} `stopping`: this process stops before the call has ended
 */
export async function* followCall(
  { events, storage }: Pick<Context, "events" | "storage">,
  callId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Event> {
  const arrived: Event[] = [];
  let wake = () => {};
  const stop = events.listen(callId, {
    event(event) {
      arrived.push(event);
      wake();
    },
    over: () => wake(),
  });
  const abort = () => wake();
  signal?.addEventListener("abort", abort);
  try {
    // What is stored while the timeline is read arrives as well; only its id shows that it is the same.
    const seen = new Set<string>();
    for (const event of await storage.events.ofCall(callId, {})) {
      seen.add(event.id);
      yield withoutPosition(event);
      if (isFinalEvent(event.type)) return;
    }
    for (;;) {
      for (let event = arrived.shift(); event; event = arrived.shift()) {
        if (seen.has(event.id)) continue;
        seen.add(event.id);
        yield event;
        if (isFinalEvent(event.type)) return;
      }
      signal?.throwIfAborted();
      if (events.closed) throw new Refusal("stopping", `the server is stopping: call "${callId}" has not ended yet`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stop();
    signal?.removeEventListener("abort", abort);
  }
}
