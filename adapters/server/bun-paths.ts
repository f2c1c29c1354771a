/** Maximum number of segments in an application path; longer paths do not match. */
const MAX_SEGMENTS = 24;

/** A request as passed to a Bun route. */
export type RoutedRequest = Request & { readonly params?: Readonly<Record<string, string>> };

/**
 * One pattern for each number of segments, with and without a trailing slash. `request.url` has gone through a URL
 * parser, which resolves dot segments and turns backslashes into slashes. Bun's routes match the path as it was sent,
 * and their parameters are its segments, percent-decoded.
 */
export const BUN_PATHS: readonly string[] = Array.from({ length: MAX_SEGMENTS + 1 }, (_, count) =>
  Array.from({ length: count }, (_, index) => `/:segment${index}`).join(""),
).flatMap((path) => (path === "" ? ["/"] : [path, `${path}/`]));

/**
 * The URL of a request, with the path as sent by the client if a URL parser has changed it. Characters that Bun has
 * percent-encoded, such as `"`, stay encoded: the application's paths have no such characters in either form.
 */
export function sentUrl({ url, params }: RoutedRequest): string {
  const [, origin = "", path = "", search = ""] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)([^?]*)(.*)$/is.exec(url) ?? [];
  // No pattern matches if a segment is empty or there are too many. The parser may have resolved some segments.
  if (params === undefined) return path.includes("//") ? url : `${origin}${path}//${search}`;
  const segments = Object.values(params);
  const isResolved = segments.some((segment) => segment === "." || segment === "..");
  const hasBackslash = !/%5c/i.test(path) && segments.some((segment) => segment.includes("\\"));
  return isResolved || hasBackslash ? `${origin}/${segments.map(encodedSegment).join("/")}${search}` : url;
}

/** Encodes the characters of a decoded segment that would end it early. */
const encodedSegment = (segment: string): string => segment.replaceAll("%", "%25").replaceAll("?", "%3F");
