import { type Fault, Refusal, type RefusalCode } from "../../domain/refusal.ts";
import type { Reply } from "../../ports/web.ts";
import type { PathFault } from "../requests/path-fault.ts";
import type { ProblemCode, ProblemKind } from "./problem-kind.ts";
import { PROBLEMS } from "./problem-table.ts";

/** A refusal of the HTTP layer, with its own headers and members. */
export class HttpRefusal extends Refusal {
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    code: RefusalCode,
    detail: string,
    extra: { headers?: Readonly<Record<string, string>>; members?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(code, detail);
    this.headers = extra.headers ?? {};
    this.members = extra.members ?? {};
  }
}

/** The request that a problem document is about. */
export interface FailedRequest {
  readonly base: string;
  readonly fullPath: string;
  readonly requestId: string;
}

/** A problem document (RFC 9457); its `type` is the address of the page that explains the code. */
export function problem(
  request: FailedRequest,
  code: ProblemCode,
  detail: string,
  extra: {
    errors?: readonly Fault[];
    headers?: Readonly<Record<string, string>>;
    members?: Readonly<Record<string, unknown>>;
  } = {},
): Reply {
  const faults: readonly Fault[] = extra.errors?.length
    ? extra.errors
    : [{ pointer: "", code: faultCode(code), detail }];
  const kind = PROBLEMS[code];
  const errors = kind.status === 400 ? { errors: faults.map(faultView) } : {};
  return problemDocument(request, {
    type: `${request.base}/docs/errors#${code}`,
    kind,
    code,
    detail,
    headers: extra.headers,
    members: { ...extra.members, ...errors },
  });
}

/** A problem document of any `type`. @param headers headers in addition to those of its kind */
export function problemDocument(
  request: FailedRequest,
  {
    type,
    kind: { status, title, headers },
    code,
    detail,
    headers: extraHeaders,
    members,
  }: {
    readonly type: string;
    readonly kind: Pick<ProblemKind, "status" | "title" | "headers">;
    readonly code: string;
    readonly detail: string;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    readonly members?: Readonly<Record<string, unknown>>;
  },
): Reply {
  return {
    status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...headers, ...extraHeaders },
    body: JSON.stringify({
      type,
      title,
      status,
      detail,
      instance: request.fullPath.slice(0, 1024),
      code,
      request_id: request.requestId,
      ...members,
    }),
  };
}

const faultView = ({ pointer, parameter, code, detail }: Fault): Fault =>
  parameter === undefined ? { pointer, code, detail } : { pointer, parameter, code, detail };

const faultCode = (code: ProblemCode): RefusalCode => (code === "not_ready" ? "internal_error" : code);

/**
 * The problem document of an unexpected error, which reveals nothing: the cause is in the log, under the request's id.
 */
export function internalProblem(request: FailedRequest): Reply {
  return problem(request, "internal_error", "an unexpected error; the server's log has it under the request id");
}

/** The problem document of a refusal. */
export function problemOf(request: FailedRequest, refusal: Refusal): Reply {
  const { code, message, errors, limit, cursor, retryAfterMs } = refusal;
  const httpRefusal = refusal instanceof HttpRefusal ? refusal : undefined;
  const headers = {
    ...retryAfter(retryAfterMs),
    ...(cursor !== undefined && { "next-cursor": cursor }),
    ...httpRefusal?.headers,
  };
  const members = {
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    ...httpRefusal?.members,
  };
  return problem(request, code, message, { errors, headers, members });
}

/** The problem document of a request whose path is invalid for every route; undefined if the path is valid. */
export function pathProblem(request: FailedRequest & { readonly pathFault: PathFault | undefined }): Reply | undefined {
  return request.pathFault && problem(request, request.pathFault.code, request.pathFault.detail);
}

/** The header `Retry-After` in whole seconds; none if the time is unknown. */
export function retryAfter(ms: number | undefined): Record<string, string> {
  return ms === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(ms / 1000))) };
}
