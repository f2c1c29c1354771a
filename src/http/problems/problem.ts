import { type Fault, Refusal, type RefusalCode } from "../../domain/refusal.ts";
import type { Reply } from "../../ports/web.ts";
import type { PathFault } from "../path-fault.ts";
import type { ProblemCode } from "./problem-kind.ts";
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
  const { status, title, headers } = PROBLEMS[code];
  const faults: readonly Fault[] = extra.errors?.length ? extra.errors : [{ pointer: "", code: asFault(code), detail }];
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...headers,
      ...extra.headers,
    },
    body: JSON.stringify({
      type: `${request.base}/docs/errors#${code}`,
      title,
      status,
      detail,
      instance: request.fullPath.slice(0, 1024),
      code,
      request_id: request.requestId,
      ...extra.members,
      ...(status === 400 ? { errors: faults.map(faultView) } : {}),
    }),
  };
}

const faultView = ({ pointer, parameter, code, detail }: Fault): Fault =>
  parameter === undefined ? { pointer, code, detail } : { pointer, parameter, code, detail };

const asFault = (code: ProblemCode): RefusalCode => (code === "not_ready" ? "internal_error" : code);

/** The problem document of a refusal. */
export function problemOf(request: FailedRequest, refusal: Refusal): Reply {
  const { code, message, errors, limit, cursor, retryAfterMs } = refusal;
  const own = refusal instanceof HttpRefusal ? refusal : undefined;
  const headers = {
    ...(retryAfterMs !== undefined && { "retry-after": wholeSeconds(retryAfterMs) }),
    ...(cursor !== undefined && { "next-cursor": cursor }),
    ...own?.headers,
  };
  const members = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }), ...own?.members };
  return problem(request, code, message, { errors, headers, members });
}

/** The problem document of a request whose path no route may take; undefined if routes may take it. */
export function refusedPath(request: FailedRequest & { readonly pathFault: PathFault | undefined }): Reply | undefined {
  return request.pathFault && problem(request, request.pathFault.code, request.pathFault.detail);
}

const wholeSeconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));
