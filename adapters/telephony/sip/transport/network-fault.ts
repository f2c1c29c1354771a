import { TransportError, type TransportFault } from "./transport.ts";

/** What the system's error codes mean, and what may be done. */
const CODES: Readonly<Record<string, readonly [fault: TransportFault, sentence: string]>> = {
  ECONNREFUSED: ["refused", "nobody listens there"],
  ECONNRESET: ["closed", "the far side broke the connection"],
  EPIPE: ["closed", "the far side has closed the connection"],
  ETIMEDOUT: ["timeout", "no answer to the connection attempt"],
  EHOSTUNREACH: ["unreachable", "there is no way to this host"],
  ENETUNREACH: ["unreachable", "there is no way to this network"],
  EADDRNOTAVAIL: ["unreachable", "this machine does not have the address that was to be used"],
  EAFNOSUPPORT: ["unreachable", "this machine does not have this kind of address"],
  EMSGSIZE: ["unreachable", "the message is too long for a datagram; use a server with transport=tcp"],
  EPERM: ["unreachable", "a firewall on this machine forbids it"],
  EACCES: ["unreachable", "this program may not do that; ports below 1024 are for privileged programs"],
  EADDRINUSE: ["refused", "another program uses this port"],
  EMFILE: ["limit", "this program has too many files and sockets open"],
  ENFILE: ["limit", "this machine has too many files and sockets open"],
  ENOBUFS: ["limit", "this machine has no memory for it"],
};

/** The runtime's error as one of ours: what was tried, what is wrong, and the cause. */
export function networkFault(cause: unknown, what: string, otherwise: TransportFault = "unreachable"): TransportError {
  if (cause instanceof TransportError) return cause;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const known = typeof code === "string" ? CODES[code] : undefined;
  const sentence = known?.[1] ?? (typeof message === "string" && message !== "" ? message : String(cause));
  return new TransportError(known?.[0] ?? otherwise, `${what}: ${sentence}`, { cause });
}

/** `UDP 192.0.2.1 port 5060`, for messages. */
export function placeName(
  kind: string,
  { address, port }: { readonly address: string; readonly port: number },
): string {
  return `${kind.toUpperCase()} ${address} port ${port}`;
}
