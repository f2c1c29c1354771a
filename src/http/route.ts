import type { TokenScope } from "../domain/access/token-scope.ts";
import type { Reply } from "../ports/web.ts";
import type { Cost } from "./cost.ts";
import type { ProblemCode } from "./problems/problem-kind.ts";
import type { QueryParameter } from "./requests/query-parameter.ts";
import type { RequestContext } from "./requests/request-context.ts";
import type { SchemaName } from "./views/all-shapes.ts";

/** Methods that routes can have, in the order of an Allow header. A route with GET also serves HEAD. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** One method of one path. */
export interface RouteHandler {
  readonly method: Exclude<(typeof METHODS)[number], "HEAD">;
  /** Path of the route after the base path, with `:name` for a parameter. */
  readonly path: string;
  /** Makes the reply; undefined becomes a 404. */
  readonly run: (context: RequestContext) => Reply | undefined | Promise<Reply | undefined>;
}

/** One operation of the interface: its handler, and its description in `/openapi.json`. */
export interface HttpRoute extends RouteHandler {
  readonly operation: Operation;
}

/** The description of a route in the document. */
export interface Operation {
  /** `operationId`. */
  readonly id: string;
  readonly tag:
    | "Instances"
    | "Calls"
    | "Audio"
    | "Batches"
    | "Events"
    | "Webhooks"
    | "Consents"
    | "Voices"
    | "Recordings"
    | "Server";
  readonly summary: string;
  readonly description?: string;
  /**
   * The token scope that the route requires; `open`: it requires no token. A 401 or 403 precedes every other refusal.
   */
  readonly access: TokenScope | "open";
  /** The limits on the expensive work of the operation; not part of the document. */
  readonly cost: Cost;
  /** Descriptions of the path parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryParameter<unknown>>>;
  /** Names of components/parameters. */
  readonly headers?: readonly RequestHeader[];
  readonly body?: {
    readonly schema: BodySchema;
    /** True if a request may have no body. Default: false. */
    readonly optional?: boolean;
    /** Other media types. */
    readonly media?: readonly string[];
  };
  /** Successful responses by status. */
  readonly responses: Readonly<Record<number, DocumentedResponse>>;
  /** Refusals specific to the operation; the refusals common to all operations are added. */
  readonly problems?: readonly ProblemCode[];
  /** True if the specific refusals are pages, for browsers. */
  readonly problemPages?: boolean;
}

/** Describes operations that have one tag. */
export function operationsOf(
  tag: Operation["tag"],
): (id: string, summary: string, details: Omit<Operation, "id" | "tag" | "summary">) => Operation {
  return (id, summary, details) => ({ id, tag, summary, ...details });
}

/** The schema of a request's body. */
export type BodySchema =
  | "CreateInstance"
  | "UpdateInstance"
  | "CreateCall"
  | "CreateAudio"
  | "CreateWebhook"
  | "UpdateWebhook"
  | "PutConsent"
  | "CreatePairingCode"
  | "CreateBatch"
  | "StartBatch"
  | "CancelBatch"
  | "AddTargets"
  | "UpdateTarget";

export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

/** A successful response. */
export interface DocumentedResponse {
  readonly description: string;
  /** A named schema, for a JSON body. */
  readonly schema?: SchemaName;
  /** Other media types. */
  readonly media?: readonly string[];
  readonly headers?: readonly ReplyHeader[];
}

/** The response to a client whose version is current. */
export const NOT_MODIFIED: DocumentedResponse = {
  description: "The client's version is current.",
  headers: ["ETag"],
};

/** Request headers of some routes; `cors.ts` lists those of every route. */
export const REQUEST_HEADERS = {
  "Idempotency-Key":
    "Repeating a request with the same key and body within 24 h returns the original response; 1 to 255 characters.",
  Prefer: "`handling=strict` refuses unknown fields; `wait=N` waits up to N seconds, at most 60 (RFC 7240).",
  "Last-Event-ID":
    "The `id` of the last event that the client of a stream has seen; it takes precedence over `cursor`.",
  Range: "The requested part of the file, such as `bytes=0-1023`.",
  "If-Range": "The ETag of the file of which the client has a part; if the file has changed, the whole file is sent.",
  "If-None-Match": "The ETag of the client's version; 304 if it is still current.",
} as const;
export type RequestHeader = keyof typeof REQUEST_HEADERS;

/** Reply headers of the interface: documented, and readable by pages of other origins. */
export const REPLY_HEADERS = {
  "X-Request-Id": "The id of this request in the server's log; the request's own id if it has one.",
  Location: "Address of the new record, or of the page.",
  Link: 'The next page, with `rel="next"`; missing on the last one.',
  "Next-Cursor": "The `cursor` to continue from, now or later; present on every page, the last one too.",
  ETag: "Changes whenever the record changes.",
  "Accept-Ranges": "`bytes`: ranges are supported; `none`: the file is still growing.",
  "Content-Disposition": "File name.",
  "Content-Range": "The part of the file in this response, and the size of the file.",
  "Idempotent-Replayed": "`true`: this is the original response to an earlier request with the same key.",
  "Preference-Applied": "`handling=strict` or `wait=N`, if the request asked for it and got it.",
  "Recording-Incomplete": "`?1`: a part of the recording is missing.",
  "QR-Expires-At": "When the next code replaces this one; RFC 3339.",
  "QR-Sequence": "Number of the code within one linking.",
  "QR-Page":
    "Address of the page that the code leads to, or, if the code is not a web address, of a link page that shows it.",
  "WWW-Authenticate": "`Bearer`; with the missing scope if the token lacks one.",
  Accept: "The required media type of a body.",
  Allow: "The allowed methods.",
  "Retry-After": "Seconds to wait before another try.",
  "RateLimit-Policy": "The quota, if one is configured.",
  RateLimit: "The rest of the quota, if one is configured.",
} as const;
export type ReplyHeader = keyof typeof REPLY_HEADERS;
