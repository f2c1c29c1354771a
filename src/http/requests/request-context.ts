import { InternalError } from "../../base/error.ts";
import { hex32 } from "../../base/hex.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { System } from "../../ports/system.ts";
import type { RequestLike, SocketHandlers } from "../../ports/web.ts";
import { type PathFault, pathFault } from "./path-fault.ts";

/** The properties of a request that are known when it arrives. */
export interface RequestStart {
  readonly request: RequestLike;
  /** Path before `/v1`, without a trailing slash. */
  readonly base: string;
  readonly requestId: string;
  /** True if the server adapter could open a WebSocket for this request. */
  readonly canUpgrade: boolean;
  /** Monotonic clock, ms. */
  readonly startedAt: number;
  /** The caller, if the embedding program has authenticated them. */
  readonly principal?: Principal | undefined;
}

/** The signal of a connection whose end is not reported. */
const NEVER_ABORTED: AbortSignal = new AbortController().signal;

/**
 * One request and its state. The router reads `method` and `url`, and writes `params`, `query` and `route`. `query`
 * stays unused, because a route that needs the query reads `search` itself, once.
 */
export class RequestContext implements RequestStart {
  readonly request: RequestLike;
  readonly base: string;
  readonly requestId: string;
  readonly canUpgrade: boolean;
  readonly startedAt: number;
  readonly method: string;
  /** The path as the client sent it. */
  readonly fullPath: string;
  /** The path after the base path, unchanged; "" for a request outside it. */
  readonly path: string;
  /** Reason why no route may accept the path. */
  readonly pathFault: PathFault | undefined;
  /** The query with its question mark; "" if there is none. */
  readonly search: string;
  /** The URL that the router matches: the path on a fixed host, so that no Host header can break it. */
  readonly url: string;
  /** The pattern of the route that matched. */
  route: string | undefined = undefined;
  params: Record<string, string | undefined> = {};
  query: unknown = undefined;
  proxy: undefined = undefined;
  /** The authenticated caller, once known. */
  principal: Principal | undefined;
  /** The access token of the caller; undefined if the embedding program has authenticated them. */
  token: string | undefined = undefined;
  /** Handlers of the WebSocket of an accepted upgrade. */
  socketHandlers: SocketHandlers | undefined = undefined;
  /** Headers of every reply to this request. */
  replyHeaders: Record<string, string> | undefined = undefined;
  /** Releases the body's share of the budget; called once the reply is known. */
  release: (() => void) | undefined = undefined;

  constructor(start: RequestStart) {
    this.request = start.request;
    this.base = start.base;
    this.requestId = start.requestId;
    this.canUpgrade = start.canUpgrade;
    this.startedAt = start.startedAt;
    this.principal = start.principal;
    this.method = start.request.method;
    const { path, search } = splitUrl(start.request.url);
    this.fullPath = path;
    this.search = search;
    this.path = afterBase(path, start.base);
    this.pathFault = pathFault(path);
    this.url = `http://ringport${this.path}`;
  }

  /** Aborted when the client's connection closes: every wait of the request ends with it. */
  get signal(): AbortSignal {
    return this.request.signal ?? NEVER_ABORTED;
  }

  header(name: string): string | null {
    return this.request.headers.get(name);
  }

  /** A parameter of the query; undefined if it is missing. */
  searchParameter(name: string): string | undefined {
    return this.search === "" ? undefined : (new URLSearchParams(this.search).get(name) ?? undefined);
  }

  /**
   * The caller, on a route that requires one.
   * @throws {InternalError} on a route that has not authenticated a caller
   */
  get caller(): Principal {
    if (!this.principal) throw new InternalError("the route reads the caller without authenticating one");
    return this.principal;
  }
}

/**
 * Returns a function that creates the context of a request.
 * @param base path before `/v1`, without a trailing slash
 * @param newRequestId creates the id of a request that has none
 */
export function requestContexts(
  system: System,
  base: string,
  newRequestId: () => string = requestIds(system),
): (request: RequestLike, canUpgrade: boolean, principal?: Principal) => RequestContext {
  return (request, canUpgrade, principal) =>
    new RequestContext({
      request,
      base,
      requestId: clientRequestId(request.headers.get("x-request-id")) ?? newRequestId(),
      canUpgrade,
      startedAt: system.monotonic(),
      principal,
    });
}

/** The path of a URL after the base path, unchanged; "" if the URL is not under it. */
export function pathAfter(url: string, base: string): string {
  return afterBase(splitUrl(url).path, base);
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*/i;

/**
 * Splits a URL into path and query, both unchanged. A request target has no fragment, so a number sign belongs to the
 * path.
 */
function splitUrl(url: string): { path: string; search: string } {
  const target = url.replace(ORIGIN, "");
  const end = target.indexOf("?");
  const path = (end < 0 ? target : target.slice(0, end)) || "/";
  return {
    path: path.startsWith("/") ? path : `/${path}`,
    search: end < 0 ? "" : target.slice(end).replace(/#.*$/s, ""),
  };
}

function afterBase(path: string, base: string): string {
  if (base === "") return path;
  if (path === base) return "/";
  return path.startsWith(base) && path[base.length] === "/" ? path.slice(base.length) : "";
}

/** Number of ids made from one read of random bytes; a read costs more than the rest of a short request. */
const IDS_PER_READ = 256;

/** Request ids with the prefix `req_` and 64 random bits. */
function requestIds(system: System): () => string {
  const bytes = new Uint8Array(IDS_PER_READ * 8);
  const view = new DataView(bytes.buffer);
  let at = bytes.length;
  return () => {
    if (at === bytes.length) {
      system.random(bytes);
      at = 0;
    }
    const id = `req_${hex32(view.getUint32(at))}${hex32(view.getUint32(at + 4))}`;
    at += 8;
    return id;
  };
}

/** The client's own id, if it is 1 to 128 visible ASCII characters. */
function clientRequestId(header: string | null): string | undefined {
  return header !== null && /^[!-~]{1,128}$/.test(header) ? header : undefined;
}
