/** The characters of a path (RFC 3986 §3.3), and complete percent-encodings. */
const WELL_FORMED_PATH = /^(?:[\w!$&'()*+,\-./:;=@~]|%[0-9A-Fa-f]{2})*$/;

/** The first character, or percent-encoding, that keeps a path from being well formed. */
const MALFORMED = /%(?![0-9A-Fa-f]{2}).{0,2}|[^\w!$&'()*+,\-./:;=@~%]/su;

/**
 * Dot segments, empty segments before the last segment, and encoded separators: implementations disagree on their
 * meaning.
 */
const AMBIGUOUS_PATH = /\/(?:\.|%2e){1,2}(?:\/|$)|\/\/|%2f|%5c/i;

/** Reason why no route accepts a path. */
export interface PathFault {
  readonly code: "invalid_request" | "not_found";
  readonly detail: string;
}

/**
 * The fault of a path; undefined if routes may accept it. No path is ever rewritten: a proxy that filters by path
 * decides about the path it has read, so that path must not turn into a different one here.
 * @param path the path as the client sent it, from the first slash to the query
 */
export function pathFault(path: string): PathFault | undefined {
  if (!WELL_FORMED_PATH.test(path)) {
    const malformedPart = JSON.stringify(MALFORMED.exec(path)?.[0] ?? "");
    return {
      code: "invalid_request",
      detail: `the path has ${malformedPart}, which is not allowed in a URL (RFC 3986): percent-encode it`,
    };
  }
  if (!AMBIGUOUS_PATH.test(path)) return undefined;
  return {
    code: "not_found",
    detail: 'no path here has the segments ".", ".." or "", or an encoded "/" or "\\"; send the path that you mean',
  };
}
