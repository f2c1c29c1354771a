import type { TransportKind } from "./transport.ts";

/** The port where a URI or a Via names none (RFC 3261 section 19.1.2). */
export function defaultPort(kind: TransportKind): number {
  return kind === "tls" ? 5061 : 5060;
}
