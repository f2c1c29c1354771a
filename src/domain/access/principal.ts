import type { CallLimits } from "../calls/call-limits.ts";
import type { TokenScope } from "./token-scope.ts";

/**
 * The user of a request, with their call limits. An embedding application builds these itself; the server reads them
 * from a token.
 */
export interface Principal extends CallLimits {
  readonly userId: string;
  /** The token of the request, or a substitute, if any; `maxCallsPerDay` counts the calls created with it. */
  readonly tokenId?: string;
  /** Set for a demo token: the only instance it may see or call from. */
  readonly demoInstanceId?: string;
  /** Permissions of the token; the HTTP interface refuses everything else. Default: everything. */
  readonly scopes?: readonly TokenScope[];
}
