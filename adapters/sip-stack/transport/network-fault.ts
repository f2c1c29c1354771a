import { errorText } from "../ports.ts";
import { TransportError, type TransportFault } from "./transport.ts";

type Meaning = readonly [fault: TransportFault, sentence: string];

/** Meanings of the system's error codes, with the fix. */
const CODES: ReadonlyMap<string, Meaning> = new Map(
  Object.entries<Meaning>({
    ECONNREFUSED: ["refused", "nothing listens on this port"],
    ECONNRESET: ["closed", "the peer reset the connection"],
    EPIPE: ["closed", "the peer closed the connection"],
    ETIMEDOUT: ["timeout", "no answer to the connection attempt"],
    EHOSTUNREACH: ["unreachable", "there is no route to this host"],
    ENETUNREACH: ["unreachable", "there is no route to this network"],
    EADDRNOTAVAIL: ["unreachable", "this machine does not have the configured address"],
    EAFNOSUPPORT: ["unreachable", "this machine has no address of this family"],
    EMSGSIZE: ["unreachable", "the message is too long for a datagram; use a server with transport=tcp"],
    EPERM: ["unreachable", "a firewall on this machine forbids it"],
    EACCES: ["unreachable", "permission denied; ports below 1024 are for privileged programs"],
    EADDRINUSE: ["refused", "another program uses this port"],
    EMFILE: ["limit", "this program has too many open files and sockets"],
    ENFILE: ["limit", "this machine has too many open files and sockets"],
    ENOBUFS: ["limit", "this machine has no buffer space left"],
  }),
);

/** The runtime's error as a TransportError: the action, the fault, and the cause. */
export function networkFault(cause: unknown, what: string, otherwise: TransportFault = "unreachable"): TransportError {
  if (cause instanceof TransportError) return cause;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const known = typeof code === "string" ? CODES.get(code) : undefined;
  const sentence = known?.[1] ?? (typeof message === "string" && message !== "" ? message : String(cause));
  return new TransportError(known?.[0] ?? otherwise, `${what}: ${sentence}`, { cause });
}

/** Whatever was thrown as a TransportError; `unreachable` if it is another error. */
export function asTransportError(cause: unknown): TransportError {
  return cause instanceof TransportError ? cause : new TransportError("unreachable", errorText(cause), { cause });
}

/** `UDP 192.0.2.1 port 5060`, for messages. */
export function placeName(
  kind: string,
  { address, port }: { readonly address: string; readonly port: number },
): string {
  return `${kind.toUpperCase()} ${address} port ${port}`;
}
