import { InternalError } from "../../../src/base/error.ts";
import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import { isHttps } from "./server-url.ts";

/** Characters of a session's secret; other text is neither looked up nor written into a header. */
const SECRET = /^[\w~.-]{1,200}$/;

/** The cookie that holds a session's secret. */
export interface SessionCookie {
  /**
   * The secret in the request; undefined if there is none, or more than one: another site in the domain may have set
   * one.
   */
  read(context: RequestContext): string | undefined;
  /** The value of a Set-Cookie header. @param maxAgeMs time until the browser deletes the cookie */
  set(context: RequestContext, secret: string, maxAgeMs: number): string;
  /** The value of a Set-Cookie header that removes the cookie. */
  clear(context: RequestContext): string;
}

/**
 * A cookie that browsers send only to paths under `/console`. On HTTPS, it is `Secure`, and its name has the prefix
 * that keeps the host's other servers from setting it over plain HTTP (RFC 6265bis §4.1.3.1). Browsers send a cookie to
 * every port of a host (RFC 6265 §8.5), so the name contains the port: servers on two ports do not end each other's
 * sessions.
 * @param base path before `/console`
 * @param kind kind of cookie: a session's secret, or the mark of a browser that has signed in before
 */
export function sessionCookie(
  base: string,
  publicUrl: string | undefined,
  kind: "session" | "device" = "session",
): SessionCookie {
  const isSecure = (context: RequestContext): boolean => isHttps(context, publicUrl);
  const name = (context: RequestContext): string =>
    `${isSecure(context) ? "__Secure-" : ""}ringport_${kind}${portSuffix(context, publicUrl)}`;
  const setCookie = (context: RequestContext, value: string, seconds: number): string =>
    `${name(context)}=${value}; Path=${base}/console; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure(context) ? "; Secure" : ""}`;
  return {
    read(context) {
      const [secret, ...otherValues] = valuesOf(context.header("cookie") ?? "", name(context));
      return secret !== undefined && otherValues.length === 0 && SECRET.test(secret) ? secret : undefined;
    },
    set(context, secret, maxAgeMs) {
      if (!SECRET.test(secret))
        throw new InternalError("the secret of a session has characters that a cookie cannot hold");
      return setCookie(context, secret, Math.max(0, Math.floor(maxAgeMs / 1000)));
    },
    clear: (context) => setCookie(context, "", 0),
  };
}

/** The port in this server's address, after an underscore; "" for the default port. */
function portSuffix(context: RequestContext, publicUrl: string | undefined): string {
  const url = publicUrl ?? `http://${context.header("host") ?? ""}`;
  const port = URL.canParse(url) ? new URL(url).port : "";
  return port === "" || port === "443" ? "" : `_${port}`;
}

/** All values for the name in the header; names are compared exactly (RFC 6265 §5.4). */
function valuesOf(header: string, name: string): string[] {
  return header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
