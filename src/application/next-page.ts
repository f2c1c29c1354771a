import { Refusal } from "../domain/refusal.ts";
import type { Context } from "./context.ts";
import { deadline } from "./deadline.ts";
import type { EventPage, WaitLimit } from "./use-cases.ts";

/**
 * The page of a user's log once it has an event, or an empty one after the wait.
 * @param startCursor the cursor of the first read; each further read continues from the cursor of the previous page
 * @param read reads the page
 * @throws {Refusal} `stopping`: this process stops before there is an event
 */
export async function nextPage(
  { events, system }: Pick<Context, "events" | "system">,
  userId: string,
  { waitMs = 0, signal }: WaitLimit,
  startCursor: string | undefined,
  read: (cursor: string | undefined) => Promise<EventPage>,
): Promise<EventPage> {
  let cursor = startCursor;
  const timeout = deadline(system, waitMs, signal);
  let wake = () => {};
  const wakeReader = () => wake();
  // Subscribed before the first read, so that events stored during the read wake the reader.
  const stop = events.subscribeToUser(userId, { onEvent: wakeReader, onClose: wakeReader });
  timeout.signal.addEventListener("abort", wakeReader);
  try {
    for (;;) {
      const wakeUp = Promise.withResolvers<void>();
      wake = wakeUp.resolve;
      if (events.isClosed) throw shutdownRefusal();
      const page = await read(cursor).catch((error: unknown) => {
        throw events.isClosed ? shutdownRefusal(error) : error;
      });
      if (page.events.length > 0 || timeout.signal.aborted) return page;
      ({ cursor } = page);
      await wakeUp.promise;
    }
  } finally {
    stop();
    timeout.signal.removeEventListener("abort", wakeReader);
    timeout.cancel();
  }
}

/** The refusal of a wait that the end of this process cuts short. */
function shutdownRefusal(cause?: unknown): Refusal {
  return new Refusal("stopping", "the server is stopping; continue from the same cursor later", { cause });
}
