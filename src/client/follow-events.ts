import type { LogPage } from "./pages.ts";
import { pause } from "./pause.ts";
import type { Query, RequestOptions, Transport } from "./transport.ts";
import type { CallEvent } from "./views.ts";

/** The interval of polls of a server that cannot wait for events, ms. */
const PAUSE_MS = 1_000;

/** The pages of events from a cursor on, each as soon as it has an event. @throws the reason of the signal when it is aborted */
export async function* followEvents(
  transport: Transport,
  query: Query,
  from: string | undefined,
  { signal }: RequestOptions = {},
): AsyncGenerator<LogPage<CallEvent>, void, undefined> {
  for (let cursor = from; ; ) {
    const page = await transport.nextPage<CallEvent>("/v1/events", { ...query, cursor }, { signal });
    const { items, next, waited } = page;
    cursor = page.cursor ?? cursor;
    if (items.length > 0 && cursor !== undefined) yield { items, next, cursor };
    else if (!waited) await pause(PAUSE_MS, signal ?? new AbortController().signal);
  }
}
