import type { ConsoleParts, ConsoleRoute } from "../../../adapters/console/server/console-route.ts";
import { consoleRoutes } from "../../../adapters/console/server/console-routes.ts";

/** Every route of the console itself, with an address in place of its path. */
export const CONSOLE_ENDPOINTS: readonly (ConsoleRoute & { readonly address: string })[] = consoleRoutes({
  ringport: {},
} as unknown as ConsoleParts).map((route) => ({
  ...route,
  address: `/console/api${route.path.replace(":id", "some_id")}`,
}));

/** Endpoints that change state. */
export const UNSAFE_ENDPOINTS = CONSOLE_ENDPOINTS.filter(({ method }) => method !== "GET");
