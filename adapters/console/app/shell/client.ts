import { createClient } from "../../../../src/client/index.ts";
import { CONSOLE } from "./place.ts";
import { watchedFetch } from "./server-reachability.ts";

/** The HTTP interface, for the account that is signed in in this browser. */
export const client = createClient({ url: location.origin + CONSOLE, fetch: watchedFetch });
