import type { Principal } from "../domain/principal.ts";
import type { RequestLike, SocketHandlers } from "../ports/web.ts";

/** What is fixed about a request before anything looks at it. */
export interface RequestStart {
  readonly request: RequestLike;
  /** Path in front of `/v1`, without a trailing slash. */
  readonly base: string;
  readonly requestId: string;
  /** The server adapter could open a WebSocket for this request. */
  readonly upgrading: boolean;
  /** Monotonic clock, ms. */
  readonly startedAt: number;
}

/**
 * One request and what becomes known about it on its way to a reply. The router reads `method` and `url`, and writes
 * `params`, `query` and `route`; `query` stays empty, because a route reads `search` itself, once, if it needs it.
 */
export class RequestContext implements RequestStart {
  readonly request: RequestLike;
  readonly base: string;
  readonly requestId: string;
  readonly upgrading: boolean;
  readonly startedAt: number;
  readonly method: string;
  /** The path as it came, percent-encoded. */
  readonly fullPath: string;
  /** The normalised path behind the base path; "" for a request that is not below it. */
  readonly path: string;
  /** From the question mark on; "" without one. */
  readonly search: string;
  /** What the router matches: the path on a host without meaning, so that no Host header can break it. */
  readonly url: string;
  /** The pattern of the route that matched. */
  route: string | undefined = undefined;
  params: Record<string, string | undefined> = {};
  query: unknown = undefined;
  proxy: undefined = undefined;
  /** Who asks, once that is known. */
  principal: Principal | undefined = undefined;
  /** The access token by which that is known. */
  token: string | undefined = undefined;
  /** What to do with the WebSocket of an upgrade that is accepted. */
  accepted: SocketHandlers | undefined = undefined;
  /** Headers that every answer to this request carries. */
  replyHeaders: Record<string, string> | undefined = undefined;
  /** Gives back what the body holds; called once the reply is known. */
  release: (() => void) | undefined = undefined;

  constructor(start: RequestStart) {
    this.request = start.request;
    this.base = start.base;
    this.requestId = start.requestId;
    this.upgrading = start.upgrading;
    this.startedAt = start.startedAt;
    this.method = start.request.method;
    const { path, search } = parts(start.request.url);
    this.fullPath = path;
    this.search = search;
    this.path = behindBase(normalised(path), start.base);
    this.url = `http://ringport${this.path}`;
  }

  header(name: string): string | null {
    return this.request.headers.get(name);
  }

  /** A parameter of the query, where it is given. */
  searchParameter(name: string): string | undefined {
    return this.search === "" ? undefined : (new URLSearchParams(this.search).get(name) ?? undefined);
  }

  /**
   * Who asks, on a route that has made sure that somebody does.
   * @throws {Error} on a route that has not: better no answer than one for nobody in particular
   */
  get caller(): Principal {
    if (!this.principal) throw new Error("the route needs a caller but did not authenticate one");
    return this.principal;
  }
}

/** The normalised path of a URL behind the base path; "" where it is not below it. */
export function pathBehind(url: string, base: string): string {
  return behindBase(normalised(parts(url).path), base);
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** A URL's path and what follows a question mark, both as they came. */
function parts(url: string): { path: string; search: string } {
  const target = url.replace(ORIGIN, "");
  const end = target.search(/[?#]/);
  const path = (end < 0 ? target : target.slice(0, end)) || "/";
  const search = end >= 0 && target[end] === "?" ? target.slice(end).replace(/#.*$/s, "") : "";
  return { path: path.startsWith("/") ? path : `/${path}`, search };
}

/** Paths that the WHATWG URL parser would rewrite: dot segments, backslashes, anything to be escaped. */
const UNUSUAL = /[^!-~]|["<>\\^`{|}]|\/(?:\.|%2e)/i;

/** The path as the router will see it, so that what is authorised is what is answered. */
function normalised(path: string): string {
  return UNUSUAL.test(path) ? new URL(`http://ringport${path}`).pathname : path;
}

function behindBase(path: string, base: string): string {
  if (base === "") return path;
  if (path === base) return "/";
  return path.startsWith(base) && path[base.length] === "/" ? path.slice(base.length) : "";
}
