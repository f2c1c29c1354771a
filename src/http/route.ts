import type { Reply } from "../ports/web.ts";
import type { ProblemCode } from "./problem.ts";
import type { QueryParameter } from "./query-parameter.ts";
import type { RequestContext } from "./request-context.ts";
import type { SchemaName } from "./schemas.ts";

/** One operation of the interface: what answers it, and what `/openapi.json` says about it. */
export interface Route {
  /** GET answers HEAD too. */
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Behind the base path, with `:name` for a parameter. */
  readonly path: string;
  readonly operation: Operation;
  /** Answers; undefined is answered with 404. */
  readonly run: (context: RequestContext) => Reply | undefined | Promise<Reply | undefined>;
}

/** What the document says about a route. */
export interface Operation {
  /** `operationId`. */
  readonly id: string;
  readonly tag: "Instances" | "Calls" | "Events" | "Voices" | "Recordings" | "Server";
  readonly summary: string;
  readonly description?: string;
  /** Needs an access token; 401 comes before everything else. */
  readonly bearer: boolean;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryParameter<unknown>>>;
  /** Names of components/parameters. */
  readonly headers?: readonly RequestHeader[];
  readonly body?: { readonly schema: "CreateInstance" | "UpdateInstance" | "CreateCall"; readonly examples: Examples };
  readonly answers: Readonly<Record<number, Answer>>;
  /** Refusals of its own; those that every operation can give are added. */
  readonly problems?: readonly ProblemCode[];
}

export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

/** An answer that is no problem. */
export interface Answer {
  readonly description: string;
  /** A named schema, for a JSON body. */
  readonly schema?: SchemaName;
  /** Other media types. */
  readonly media?: readonly string[];
  readonly headers?: readonly ReplyHeader[];
  readonly example?: unknown;
}

/** Request headers with a meaning on some routes; every route takes the rest (see `cors.ts`). */
export const REQUEST_HEADERS = {
  "Idempotency-Key": "The same key with the same body answers the first answer again for 24 h; 1 to 255 characters.",
  Prefer: "`handling=strict` refuses fields that nobody knows.",
  Range: "The part of the file that is wanted, such as `bytes=0-1023`.",
  "If-Range": "The ETag of the file that the client has a part of; the whole file is sent if it is another one.",
  "If-None-Match": "The ETag of the record that the client has; 304 where it is still the same.",
} as const;
export type RequestHeader = keyof typeof REQUEST_HEADERS;

/** Reply headers with a meaning here: documented, and readable by pages of other origins. */
export const REPLY_HEADERS = {
  "X-Request-Id": "Names this request in the server's log; taken from the request where it was given.",
  Location: "Where the new record, or the page, is read.",
  Link: 'The next page, with `rel="next"`; missing on the last one.',
  "Next-Cursor": "The `cursor` to go on from, now or when more has happened; on every page, the last one too.",
  ETag: "Changes with the record.",
  "Accept-Ranges": "`bytes`: a part can be asked for; `none`: it still grows.",
  "Content-Disposition": "A name for the file.",
  "Content-Range": "Which part of the file this is, of how many bytes.",
  "Idempotent-Replayed": "`true`: the key was seen before, and this is the first answer once more.",
  "Preference-Applied": "`handling=strict` where it was asked for.",
  "Recording-Incomplete": "`?1`: a part of the recording is missing.",
  "QR-Expires-At": "When the next code appears; RFC 3339.",
  "QR-Sequence": "Counts the codes of one linking.",
  "WWW-Authenticate": "`Bearer`.",
  Accept: "The media type that a body must have.",
  Allow: "The methods that are allowed here.",
  "Retry-After": "Seconds after which to try again.",
  "RateLimit-Policy": "The quota, where one is configured.",
  RateLimit: "What is left of the quota, where one is configured.",
} as const;
export type ReplyHeader = keyof typeof REPLY_HEADERS;
