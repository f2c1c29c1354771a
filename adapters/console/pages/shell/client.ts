import { createClient } from "../../../../src/client/index.ts";
import { watchedFetch } from "./server-reachability.ts";
import { CONSOLE } from "./place.ts";

/** The HTTP interface, for the account that is signed in in this browser. */
export const client = createClient({ url: location.origin + CONSOLE, fetch: watchedFetch });
