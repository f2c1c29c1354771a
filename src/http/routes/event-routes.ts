import type { HttpDependencies } from "../dependencies.ts";
import { EVENT_EXAMPLE } from "../examples.ts";
import { logPage } from "../page.ts";
import { idParameter, LOG_CURSOR, limitParameter, readQuery } from "../query-parameter.ts";
import type { Route } from "../route.ts";

const eventsQuery = {
  instanceId: idParameter("instance_id", "Only events of this instance and its calls.", "inst"),
  limit: limitParameter(200, "50"),
  cursor: LOG_CURSOR,
};

/** The events of all records of the caller. */
export function eventRoutes({ queries }: Pick<HttpDependencies, "queries">): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/events",
      operation: {
        id: "listEvents",
        tag: "Events",
        summary: "List all events of the caller's instances and calls, oldest first",
        description:
          "Continue from the Next-Cursor of each page, the last one too, and you see every event exactly once. Events come in " +
          "the order in which they were stored; ids and timestamps need not rise.",
        bearer: true,
        query: eventsQuery,
        answers: {
          200: {
            description: "One page.",
            schema: "EventList",
            headers: ["Link", "Next-Cursor"],
            example: [EVENT_EXAMPLE],
          },
        },
        problems: ["invalid_request"],
      },
      async run(context) {
        const query = readQuery(context.search, eventsQuery);
        return logPage(context, await queries.events(context.caller, query));
      },
    },
  ];
}
