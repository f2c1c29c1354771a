import type { Reply, RequestLike, WebApp } from "../../src/ports/web.ts";
import { fault, isReply } from "./fault.ts";
import { DEFAULT_HOSTNAME, type ServedApp, type ServeOptions } from "./listening.ts";

/** One year, only for this host (RFC 6797 §6.1). */
const STRICT_TRANSPORT = { "strict-transport-security": "max-age=31536000" };
const AUTHORITY = /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^/?#:]*)/i;

/**
 * The application behind the rules for a standalone server. A server that listens only on this machine accepts only
 * local names: in a browser, a page from any site whose name resolves to 127.0.0.1 would have the same origin as the
 * server (DNS rebinding). A server that is reached over HTTPS makes browsers use only HTTPS.
 */
export function atEdge(app: ServedApp, { hostname = DEFAULT_HOSTNAME, tls }: ServeOptions): ServedApp {
  const { publicUrl } = app;
  const isPublic = publicUrl !== undefined && !isLoopback(partsOf(publicUrl).host);
  const isForThisMachine = isLoopback(hostname) && !isPublic;
  const isPublicOverHttps = isPublic && partsOf(publicUrl).scheme === "https";

  const refusal = ({ url }: RequestLike): Reply | undefined => {
    const { host } = partsOf(url);
    return isForThisMachine && !isLoopback(host) ? unknownHost(host, hostname) : undefined;
  };
  /**
   * True if browsers must use only HTTPS from now on. For a local name, that would apply to all servers on the machine.
   */
  const isStrict = ({ url }: RequestLike): boolean => (tls || isPublicOverHttps) && !isLoopback(partsOf(url).host);
  const withStrictTransport = (reply: Reply): Reply => ({
    ...reply,
    headers: { ...reply.headers, ...STRICT_TRANSPORT },
  });

  return {
    handle(request, principal) {
      const hostRefusal = refusal(request);
      if (hostRefusal) return Promise.resolve(hostRefusal);
      const reply = app.handle(request, principal);
      return isStrict(request) ? reply.then(withStrictTransport) : reply;
    },
    async upgrade(request, principal) {
      const decision = refusal(request) ?? (await app.upgrade(request, principal));
      return isReply(decision) && isStrict(request) ? withStrictTransport(decision) : decision;
    },
    claims: (request) => app.claims(request),
    fetch: (request) => app.fetch(request),
    listeningAt: (url) => app.listeningAt?.(url),
  } satisfies WebApp & ServedApp;
}

function partsOf(url: string): { scheme: string; host: string } {
  const [, scheme = "", host = ""] = AUTHORITY.exec(url) ?? [];
  return { scheme: scheme.toLowerCase(), host };
}

function unknownHost(host: string, hostname: string): Reply {
  return fault(
    421,
    "The host is not one of this server",
    "host_not_allowed",
    `the host is ${JSON.stringify(host.slice(0, 100))}: without a public URL, a server on ${hostname} accepts only localhost and loopback addresses; if a proxy passes requests to it, set RINGPORT_PUBLIC_URL (publicUrl) to the address of the proxy`,
  );
}

/** Names and addresses that always mean the local machine (RFC 6761 §6.3), as written in a URL. */
const LOOPBACK = /^(?:(?:[a-z0-9-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/**
 * True for a host that always means the local machine. @param host without a port; an IPv6 address with brackets or
 * without
 */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
