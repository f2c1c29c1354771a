import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import { ConsoleRefusal } from "./problems.ts";
import { isHttps } from "./server-url.ts";

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** True if the method may change data. */
const isUnsafe = (method: string): boolean => !SAFE_METHODS.has(method);

/**
 * Checks that a request comes from a page of this server. Other sites under the same domain, and other ports of the
 * same host, get the cookie too. Browsers name the site of a request in `Sec-Fetch-Site`, except at plain HTTP
 * addresses: there, only the `Origin` shows that our own page has requested a change or a WebSocket.
 * @param publicUrl this server's URL, if known: a proxy may have changed the host
 * @throws {ConsoleRefusal} `cross_site`
 */
export function assertSameOrigin(context: RequestContext, publicUrl: string | undefined): void {
  const site = context.header("sec-fetch-site");
  const isChange = context.canUpgrade || isUnsafe(context.method);
  if (site === "same-origin" || (site === "none" && !isChange)) return;
  if (site === null && (!isChange || isOwnOrigin(context, publicUrl))) return;
  throw new ConsoleRefusal(
    "cross_site",
    site === null
      ? "the request's Origin header does not name a page of this server; programs use the HTTP interface at /v1 with an access token"
      : `Sec-Fetch-Site is ${JSON.stringify(site.slice(0, 40))}: only pages of this server may send this request`,
  );
}

function isOwnOrigin(context: RequestContext, publicUrl: string | undefined): boolean {
  const origin = context.header("origin");
  const originUrl = origin === null ? undefined : parseUrl(origin);
  if (!originUrl || originUrl.host === "") return false;
  // Pages sent over plain HTTP can be modified by anyone on the network path.
  if (originUrl.protocol !== "https:" && isHttps(context, publicUrl)) return false;
  const { protocol, host } = originUrl;
  const ownUrls = [`${protocol}//${context.header("host") ?? ""}`, context.request.url, publicUrl];
  return ownUrls.some((url) => url !== undefined && parseUrl(url)?.host === host);
}

const parseUrl = (url: string): URL | undefined => (URL.canParse(url) ? new URL(url) : undefined);
