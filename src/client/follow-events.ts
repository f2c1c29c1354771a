import type { LogPage } from "./pages.ts";
import { pause } from "./pause.ts";
import { RingportError } from "./ringport-error.ts";
import type { AwaitedPage, Query, RequestOptions, Transport } from "./transport.ts";
import type { CallEvent } from "./views.ts";

type FollowedPage = AwaitedPage<CallEvent> & Pick<LogPage<CallEvent>, "reset">;

/** The interval of polls of a server that cannot wait for events, ms. */
const PAUSE_MS = 1_000;

/**
 * The pages of events from a cursor on, each as soon as it has an event. If the log was put back to an earlier state, an empty
 * page with `reset` comes first, and the events go on from the place that the server names.
 * @throws the reason of the signal when it is aborted
 */
export async function* followEvents(
  transport: Transport,
  query: Query,
  from: string | undefined,
  { signal }: RequestOptions = {},
): AsyncGenerator<LogPage<CallEvent>, void, undefined> {
  for (let cursor = from; ; ) {
    const page: FollowedPage = await transport
      .nextPage<CallEvent>("/v1/events", { ...query, cursor }, { signal })
      .catch(resetPage);
    const { items, next, waited, reset } = page;
    cursor = page.cursor ?? cursor;
    if ((reset || items.length > 0) && cursor !== undefined) yield { items, next, cursor, ...(reset && { reset }) };
    else if (!waited) await pause(PAUSE_MS, signal ?? new AbortController().signal);
  }
}

/** The empty page that reports a reset. @throws every other error */
function resetPage(error: unknown): FollowedPage {
  if (!(error instanceof RingportError && error.code === "log_reset" && error.cursor !== null)) throw error;
  return { items: [], next: undefined, cursor: error.cursor, reset: true, waited: true };
}
