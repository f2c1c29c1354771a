import type { ConsoleRoute, RoutesOf } from "./console-route.ts";
import { overviewRoutes } from "./overview-routes.ts";
import { peopleRoutes } from "./people-routes.ts";
import { sessionRoutes } from "./session-routes.ts";
import { tokenRoutes } from "./token-routes.ts";

/** Every route of the console itself. */
export const consoleRoutes: RoutesOf = (parts): readonly ConsoleRoute[] => [
  ...sessionRoutes(parts),
  ...tokenRoutes(parts),
  ...peopleRoutes(parts),
  ...overviewRoutes(parts),
];
