import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import { ConsoleRefusal } from "./problems.ts";
import { isHttps } from "./server-url.ts";

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** True if the method changes something. */
const isUnsafe = (method: string): boolean => !SAFE.has(method);

/**
 * Checks that a request comes from a page of this server. The cookie is sent with requests of other sites under the same
 * domain too, and on other ports of the same host. Browsers name the site of a request in `Sec-Fetch-Site`; on a plain HTTP address
 * they do not, and only an `Origin` shows that a change or a WebSocket was requested by our own page.
 * @param publicUrl the address of this server, if it is known: a proxy may have changed the host
 * @throws {ConsoleRefusal} `cross_site`
 */
export function assertSameOrigin(context: RequestContext, publicUrl: string | undefined): void {
  const site = context.header("sec-fetch-site");
  const changes = context.canUpgrade || isUnsafe(context.method);
  if (site === "same-origin" || (site === "none" && !changes)) return;
  if (site === null && (!changes || isOwnOrigin(context, publicUrl))) return;
  throw new ConsoleRefusal(
    "cross_site",
    site === null
      ? "the request names no page of this server in its Origin header; programs use the HTTP interface at /v1 with an access token"
      : `Sec-Fetch-Site is ${JSON.stringify(site.slice(0, 40))}: only pages of this server may send this request`,
  );
}

function isOwnOrigin(context: RequestContext, publicUrl: string | undefined): boolean {
  const origin = context.header("origin");
  const from = origin === null ? undefined : parsed(origin);
  if (!from || from.host === "") return false;
  // Anyone on the network path can modify a page sent over plain HTTP.
  if (from.protocol !== "https:" && isHttps(context, publicUrl)) return false;
  const { protocol, host } = from;
  const ownUrls = [`${protocol}//${context.header("host") ?? ""}`, context.request.url, publicUrl];
  return ownUrls.some((url) => url !== undefined && parsed(url)?.host === host);
}

const parsed = (url: string): URL | undefined => (URL.canParse(url) ? new URL(url) : undefined);
