import type { LogQuery } from "../../application/use-cases.ts";
import type { PerUser } from "../../application/user-limits/per-user.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Reply } from "../../ports/web.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { eventStream, wantsEventStream } from "../replies/event-stream.ts";
import { logPage } from "../replies/list-reply.ts";
import { withVary } from "../replies/reply.ts";
import { idParameter, LOG_CURSOR, limitParameter, readQuery } from "../requests/query-parameter.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { withPreferredWait } from "../requests/wait-preference.ts";
import type { HttpRoute } from "../route.ts";
import type { TokenWatches } from "../stream/token-watches.ts";

const eventsQuery = {
  instanceId: idParameter("instance_id", "Only events of this instance and its calls.", "inst"),
  limit: limitParameter(200, "50"),
  cursor: LOG_CURSOR,
};
/** Delay before a stream whose body is unread frees its slot, ms. */
const UNREAD_MS = 10_000;

/**
 * The routes for the events of all the user's records.
 * @param waits bounds each user's waiting requests
 */
export function eventRoutes(
  { queries, system }: Pick<HttpDependencies, "queries" | "system">,
  waits: PerUser,
  watches: TokenWatches,
): HttpRoute[] {
  function stream(context: RequestContext, query: LogQuery): Reply {
    const releaseSlot = waits.take(context.caller.userId);
    if (!releaseSlot)
      throw new Refusal("server_busy", "too many of your requests and streams are waiting for events; end one");
    const scope = new AbortController();
    const { signal } = context;
    const unwatch = watches.watch(context.token, context.caller, () => scope.abort());
    let isEnded = false;
    const finish = (): void => {
      if (isEnded) return;
      isEnded = true;
      cancel();
      signal.removeEventListener("abort", abandon);
      unwatch();
      releaseSlot();
    };
    const abandon = (): void => {
      scope.abort();
      finish();
    };
    const cancel = system.after(UNREAD_MS, abandon);
    signal.addEventListener("abort", abandon);
    if (signal.aborted) abandon();
    const read: typeof queries.nextEvents = (...args) => {
      cancel(); // the body is being read
      return queries.nextEvents(...args);
    };
    return eventStream(context, { queries: { nextEvents: read }, query, signal: scope.signal, onEnd: finish });
  }

  const pageReply = (context: RequestContext, query: LogQuery): Promise<Reply> =>
    withPreferredWait(context, waits, async (wait) => {
      const { caller } = context;
      const page = wait ? queries.nextEvents(caller, query, wait) : queries.events(caller, query);
      return logPage(context, await page);
    });

  return [
    {
      method: "GET",
      path: "/v1/events",
      operation: {
        id: "listEvents",
        tag: "Events",
        summary: "List all events of the user's instances and calls, oldest first",
        description:
          "Continue from the Next-Cursor of each page, including the last, and you see every event exactly once. Events are in " +
          "the order in which they were stored; ids and timestamps need not rise. With `Prefer: wait=N` the response waits up to " +
          "N seconds for an event. With `Accept: text/event-stream` the response is a stream of server-sent events that does not " +
          "end: the `id` of each is the cursor after it, and a comment follows every 5 seconds without events.",
        access: "read",
        cost: ["waits", "pages"],
        query: eventsQuery,
        headers: ["Prefer", "Last-Event-ID"],
        responses: {
          200: {
            description: "One page, or the stream.",
            schema: "EventList",
            media: ["text/event-stream"],
            headers: ["Link", "Next-Cursor", "Preference-Applied"],
          },
        },
        problems: ["invalid_request", "log_reset", "server_busy"],
      },
      async run(context) {
        const query = readQuery(context.search, eventsQuery);
        const isStream = wantsEventStream(context);
        return withVary(await (isStream ? streamReply : pageReply)(context, query), "Accept");
      },
    },
  ];

  async function streamReply(context: RequestContext, query: LogQuery): Promise<Reply> {
    const cursor = lastEventId(context) ?? query.cursor;
    // An invalid cursor is refused before the stream begins.
    if (cursor !== undefined) await queries.events(context.caller, { ...query, cursor, limit: 1 });
    if (context.method !== "HEAD") return stream(context, { ...query, cursor });
    return { status: 200, headers: { "content-type": "text/event-stream" } };
  }
}

/** @throws {Refusal} `invalid_request`: the header contains no cursor */
function lastEventId(context: RequestContext): string | undefined {
  const id = context.header("last-event-id") ?? "";
  if (id === "") return undefined;
  const cursor = LOG_CURSOR.read(id);
  if (cursor !== undefined) return cursor;
  const detail = "the Last-Event-ID must be the id of an event of this stream";
  throw new Refusal("invalid_request", detail, { errors: [{ pointer: "", code: "value_invalid", detail }] });
}
