import { networkFault } from "./network-fault.ts";
import { type Hop, TransportError, type TransportFault } from "./transport.ts";

/** Patterns of the runtimes' errors (OpenSSL's codes on Node and Bun, rustls' texts on Deno), with the fix. */
const FAULTS: readonly (readonly [pattern: RegExp, sentence: (host: string) => string, passing?: "passing"])[] = [
  [
    /HOSTNAME_MISMATCH|ALTNAME_INVALID|NotValidForName/i,
    (host) => `its certificate is for other names than ${host}; set tls.servername to the name in the certificate`,
  ],
  [
    /NOT_YET_VALID|NotValidYet/i,
    () => "its certificate is not valid yet; check the clock of this machine and of the server",
    "passing",
  ],
  [/EXPIRED|\bExpired/i, () => "its certificate has expired; the operator of the server has to renew it"],
  [
    /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|UnknownIssuer|CaUsedAsEndEntity|self.signed|unable to (get|verify)/i,
    () => "its certificate is signed by an unknown authority; set tls.ca to the certificate of that authority",
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH|InvalidContentType|corrupt message|HTTP_REQUEST/i,
    () => "it does not speak TLS on this port; use the port for TLS, often 5061, or another transport",
  ],
  [
    /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NoProtocol|ProtocolVersion|peer is incompatible/i,
    () => "it does not support TLS 1.2 or later",
  ],
  [
    /CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE|UNKNOWN_CA|AlertReceived|\balert\b/i,
    () => "it refused us; if it requires a client certificate, set tls.cert and tls.key",
  ],
  [
    /KEY_VALUES_MISMATCH|NO_START_LINE|BAD_BASE64|PEM|DECODER|asn1|InvalidCertificate|keys? may not be/i,
    () => "tls.ca, tls.cert or tls.key is not a certificate or key, or the key belongs to another certificate",
  ],
];

/** The fault of a TLS connection to this hop. @param otherwise the fault of an unknown error */
export function tlsFault(
  cause: unknown,
  { host, address, port }: Pick<Hop, "host" | "address" | "port">,
  servername: string,
  otherwise: TransportFault = "tls",
): TransportError {
  if (cause instanceof TransportError) return cause;
  const { code = "", message = "" } = (cause ?? {}) as { code?: string; message?: string };
  const what = `TLS to ${host === address ? host : `${host} (${address})`} port ${port} failed`;
  const known = FAULTS.find(([pattern]) => pattern.test(code) || pattern.test(message));
  if (known === undefined) return networkFault(cause, what, otherwise);
  const original = message === "" ? code : message;
  return new TransportError("tls", `${what}: ${known[1](servername)} (${original})`, {
    cause,
    lasting: known[2] !== "passing",
  });
}
