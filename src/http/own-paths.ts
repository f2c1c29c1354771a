import { pathBehind } from "./request-context.ts";

/** What the paths of the interface begin with, besides the pages of telephonies, which may take none of these. */
export const OWN_SEGMENTS: ReadonlySet<string> = new Set([
  "v1",
  "docs",
  "openapi.json",
  "healthz",
  "readyz",
  "metrics",
]);

/**
 * Tells whether a URL is one of the interface's own, also where nothing is there. "/" is one behind a base path only:
 * without one it is the front door of the program that the interface is mounted in.
 * @param base path in front of `/v1`, without a trailing slash
 * @param prefixes of the pages of telephonies
 */
export function ownPaths(base: string, prefixes: readonly string[] = []): (url: string) => boolean {
  return (url) => {
    const path = pathBehind(url, base);
    if (path === "/") return base !== "";
    const segment = path.split("/", 2)[1] ?? "";
    return OWN_SEGMENTS.has(segment) || prefixes.includes(segment);
  };
}
