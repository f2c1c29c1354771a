import type { Reply } from "../../src/ports/web.ts";
import { fault } from "./fault.ts";

/** Characters that a host may not contain: they would change the path of the URL, or separate several hosts. */
const INVALID_HOST = /[^\w.:[\]-]/;

/** Fault of a request's Host (RFC 9112 §3.2); runtimes join several Host headers into a comma-separated list. */
export function hostFault(host: string | null | undefined): Reply | undefined {
  if (!host || !INVALID_HOST.test(host)) return undefined;
  return fault(
    400,
    "The request is not HTTP",
    "malformed_request",
    "a request must have exactly one Host header, with one host",
  );
}
