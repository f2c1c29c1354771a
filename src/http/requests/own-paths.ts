import { pathAfter } from "./request-context.ts";

/** The first segments of the interface's paths. No network may use one of these as the prefix of its pages. */
export const OWN_SEGMENTS: ReadonlySet<string> = new Set([
  "v1",
  "docs",
  "link-page",
  "openapi.json",
  "healthz",
  "readyz",
  "metrics",
]);

/**
 * Returns a function that reports whether a URL belongs to the interface, even if it has no route. "/" belongs to the
 * interface only if there is a base path: otherwise it is the front page of the program that mounts the interface.
 * @param base path before `/v1`, without a trailing slash
 * @param prefixes the prefixes of the networks' pages
 */
export function ownPaths(base: string, prefixes: readonly string[] = []): (url: string) => boolean {
  return (url) => {
    const path = pathAfter(url, base);
    if (path === "/") return base !== "";
    const segment = path.split("/", 2)[1] ?? "";
    return OWN_SEGMENTS.has(segment) || prefixes.includes(segment);
  };
}
