import { isFinalEvent, type NumberedEvent, withoutPosition } from "../../domain/events.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Context } from "../context.ts";

/**
 * All events of a call, past and new, each once, until the final one.
 * @throws {Refusal} `stopping`: this process stops before the call has ended
 */
export async function* followedEvents(
  { events, storage }: Pick<Context, "events" | "storage">,
  callId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<NumberedEvent> {
  // True if there may be stored events that have not been read yet. The log is read again for them, because only the
  // log assigns their numbers.
  let isBehind = true;
  let wake = () => {};
  const stop = events.subscribeToCall(callId, {
    onEvent() {
      isBehind = true;
      wake();
    },
    onClose: () => wake(),
  });
  const abort = () => wake();
  signal?.addEventListener("abort", abort);
  try {
    let after: number | undefined;
    for (;;) {
      while (isBehind) {
        isBehind = false;
        for (const event of await storage.events.ofCall(callId, { after })) {
          after = event.position;
          yield withoutPosition(event);
          if (isFinalEvent(event.type)) return;
        }
      }
      signal?.throwIfAborted();
      if (events.isClosed) throw new Refusal("stopping", `the server is stopping: call "${callId}" has not ended yet`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stop();
    signal?.removeEventListener("abort", abort);
  }
}
