import type { Logger } from "../../ports/logger.ts";
import type { Reply } from "../../ports/web.ts";
import type { Cors } from "../cors.ts";
import { internalProblem } from "../problems/problem.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { isInPieces } from "./reply.ts";

const NAME = /^[a-z0-9-]+$/;
/** Characters that a header value may not contain (RFC 9110 §5.5): a line break would allow header injection. */
const UNSAFE_HEADER_CHARACTER = /[^\t -~\x80-\xff]/;

/** Prepares a reply for sending: adds the common headers, drops the body of a HEAD, refuses unsafe header values. */
export function finish(reply: Reply, context: RequestContext, cors: Cors | undefined, log: Logger): Reply {
  const headers: Record<string, string> = {};
  for (const name in reply.headers) {
    const value = reply.headers[name]!;
    if (UNSAFE_HEADER_CHARACTER.test(value) || !NAME.test(name)) {
      log.error({ request_id: context.requestId, header: name }, "a reply had an unsafe header and was not sent");
      return finish(internalProblem(context), context, cors, log);
    }
    headers[name] = value;
  }
  if (context.replyHeaders) Object.assign(headers, context.replyHeaders);
  headers["x-request-id"] = context.requestId;
  headers["x-content-type-options"] = "nosniff";
  cors?.allow(context, headers);
  const withLogging = async function* (body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      log.warn({ request_id: context.requestId, err: error }, "the body of a response was cut off");
      throw error;
    }
  };
  if (context.method !== "HEAD" || reply.body === undefined)
    return { status: reply.status, headers, body: isInPieces(reply.body) ? withLogging(reply.body) : reply.body };
  if (!isInPieces(reply.body)) headers["content-length"] ??= String(lengthOf(reply.body));
  return { status: reply.status, headers };
}

function lengthOf(body: string | Uint8Array): number {
  return typeof body === "string" ? new TextEncoder().encode(body).length : body.length;
}
