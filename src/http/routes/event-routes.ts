import type { HttpDependencies } from "../dependencies.ts";
import { EVENT_EXAMPLE } from "../examples.ts";
import { page } from "../page.ts";
import { cursorParameter, idParameter, limitParameter, readQuery } from "../query-parameter.ts";
import type { Route } from "../route.ts";
import { eventView } from "../views.ts";

const eventsQuery = {
  instanceId: idParameter("instance_id", "Only events of this instance and its calls.", "inst"),
  limit: limitParameter(200, "50"),
  cursor: cursorParameter("evt"),
};

/** What happened, whichever record it happened to. */
export function eventRoutes({ queries }: Pick<HttpDependencies, "queries">): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/events",
      operation: {
        id: "listEvents",
        tag: "Events",
        summary: "List everything that happened to the caller's instances and calls, oldest first",
        bearer: true,
        query: eventsQuery,
        answers: {
          200: { description: "One page.", schema: "EventList", headers: ["Link"], example: [EVENT_EXAMPLE] },
        },
        problems: ["invalid_request"],
      },
      async run(exchange) {
        const { limit = 50, cursor, ...filter } = readQuery(exchange.search, eventsQuery);
        return page(exchange, limit, cursor, (page) => queries.events(exchange.caller, filter, page), eventView);
      },
    },
  ];
}
