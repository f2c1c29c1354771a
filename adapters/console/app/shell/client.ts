import { createClient } from "../../../../src/client/index.ts";
import { CONSOLE } from "./place.ts";
import { watchedFetch } from "./server-reachability.ts";

/** A client of the HTTP API, for the account signed in in this browser. */
export const client = createClient({ url: location.origin + CONSOLE, fetch: watchedFetch });
