import type { Principal } from "../../../src/domain/access/principal.ts";
import { assertScope } from "../../../src/http/bearer.ts";
import { jsonReply } from "../../../src/http/replies/reply.ts";
import type { NetworkView } from "../api.ts";
import type { ConsoleRoute, RoutesOf } from "./console-route.ts";
import { peopleRoutes } from "./people-routes.ts";
import { sessionRoutes } from "./session-routes.ts";
import { tokenRoutes } from "./token-routes.ts";

/** All console routes. */
export const consoleRoutes: RoutesOf = (parts): readonly ConsoleRoute[] => [
  ...sessionRoutes(parts),
  ...tokenRoutes(parts),
  ...peopleRoutes(parts),
  ...overviewRoutes(parts),
];

/** Routes for the user's calls and the server's networks. Both serve every signed-in visitor. */
const overviewRoutes: RoutesOf = ({ ringport, visitors }) => {
  const route = (path: string, read: (principal: Principal) => Promise<object>): ConsoleRoute => ({
    method: "GET",
    path,
    access: "signed-in",
    cost: "small",
    async run(context) {
      const { principal } = await visitors.require(context);
      context.principal = principal;
      assertScope(principal, "read");
      return jsonReply(200, await read(principal));
    },
  });
  return [
    route("/summary", (principal) => ringport.callSummary(principal)),
    route("/networks", async (principal) =>
      (await ringport.networks(principal)).map(
        ({ name, linking, receivesAudio, callerIds }): NetworkView => ({
          name,
          linking,
          receives_audio: receivesAudio,
          caller_ids: callerIds,
        }),
      ),
    ),
  ];
};
