import type { Reply } from "../ports/web.ts";
import { noContent, vary } from "./reply.ts";
import type { RequestContext } from "./request-context.ts";
import { REPLY_HEADERS, REQUEST_HEADERS } from "./route.ts";

/** Which web pages of other origins may call: none, all, or these. Credentials are never cookies, so none are allowed. */
export type CorsOption = false | true | { readonly origins: readonly string[]; readonly maxAgeSeconds?: number };

/** How other origins are treated. */
export interface Cors {
  /** The answer to a preflight; undefined for any other request. */
  preflight(context: RequestContext): Reply | undefined;
  /** Adds what a browser needs to hand the reply to the page. */
  allow(context: RequestContext, headers: Record<string, string>): void;
}

/** Request headers that every route takes. */
const OF_EVERY_ROUTE = ["Accept", "Authorization", "Content-Type", "Traceparent", "X-Request-Id"];
const ALLOWED = listed([...OF_EVERY_ROUTE, ...Object.keys(REQUEST_HEADERS)]);
const EXPOSED = listed(Object.keys(REPLY_HEADERS));

/** The policy of the option; undefined when CORS is off. */
export function corsPolicy(option: CorsOption): Cors | undefined {
  if (option === false) return undefined;
  const origins = option === true ? [] : option.origins;
  const everybody = option === true || origins.includes("*");
  const maxAge = String(option === true ? 600 : (option.maxAgeSeconds ?? 600));

  const allowOrigin = (context: RequestContext, headers: Record<string, string>): boolean => {
    if (everybody) {
      headers["access-control-allow-origin"] = "*";
      return true;
    }
    // Also where the origin is missing or refused: a cache must not hand that answer to an allowed one.
    vary(headers, "Origin");
    const origin = context.header("origin");
    if (origin === null || !origins.includes(origin)) return false;
    headers["access-control-allow-origin"] = origin;
    return true;
  };

  return {
    preflight(context) {
      if (context.method !== "OPTIONS" || context.header("origin") === null) return undefined;
      if (context.header("access-control-request-method") === null) return undefined;
      return noContent({
        "access-control-allow-methods": "GET, HEAD, POST, PATCH, DELETE",
        "access-control-allow-headers": ALLOWED,
        "access-control-max-age": maxAge,
      });
    },
    allow(context, headers) {
      if (allowOrigin(context, headers)) headers["access-control-expose-headers"] = EXPOSED;
    },
  };
}

function listed(names: readonly string[]): string {
  return names.join(", ").toLowerCase();
}
