import type { Reply } from "../ports/web.ts";
import { noContent, vary } from "./replies/reply.ts";
import type { RequestContext } from "./requests/request-context.ts";
import { METHODS, REPLY_HEADERS, REQUEST_HEADERS } from "./route.ts";

/**
 * The origins whose web pages may send requests: none, all, or these. Cookies are never credentials, so they are not
 * allowed.
 */
export type CorsOption = false | true | { readonly origins: readonly string[]; readonly maxAgeSeconds?: number };

/** The CORS policy. */
export interface Cors {
  /** The response to a preflight; undefined for any other request. */
  preflight(context: RequestContext): Reply | undefined;
  /** Adds the headers by which a browser lets the page read the reply. */
  allow(context: RequestContext, headers: Record<string, string>): void;
}

/** Request headers that every route accepts. */
const COMMON_HEADERS = ["Accept", "Authorization", "Content-Type", "Traceparent", "X-Request-Id"];
const ALLOWED_HEADERS = headerList([...COMMON_HEADERS, ...Object.keys(REQUEST_HEADERS)]);
const EXPOSED_HEADERS = headerList(Object.keys(REPLY_HEADERS));

/** The policy for the option; undefined if CORS is off. */
export function corsPolicy(option: CorsOption): Cors | undefined {
  if (option === false) return undefined;
  const origins = option === true ? [] : option.origins;
  const allowsAll = option === true || origins.includes("*");
  const maxAge = String(option === true ? 600 : (option.maxAgeSeconds ?? 600));

  const allowOrigin = (context: RequestContext, headers: Record<string, string>): boolean => {
    if (allowsAll) {
      headers["access-control-allow-origin"] = "*";
      return true;
    }
    // Even if the origin is missing or refused: a cache must not serve that response to an allowed origin.
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
        "access-control-allow-methods": METHODS.join(", "),
        "access-control-allow-headers": ALLOWED_HEADERS,
        "access-control-max-age": maxAge,
      });
    },
    allow(context, headers) {
      if (allowOrigin(context, headers)) headers["access-control-expose-headers"] = EXPOSED_HEADERS;
    },
  };
}

function headerList(names: readonly string[]): string {
  return names.join(", ").toLowerCase();
}
