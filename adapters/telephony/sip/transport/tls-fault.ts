import { networkFault } from "./network-fault.ts";
import { type Hop, TransportError, type TransportFault } from "./transport.ts";

/** What the runtimes say (OpenSSL's codes on Node and Bun, rustls' words on Deno), and what a person can do about it. */
const FAULTS: readonly (readonly [said: RegExp, sentence: (host: string) => string, passing?: "passing"])[] = [
  [
    /HOSTNAME_MISMATCH|ALTNAME_INVALID|NotValidForName/i,
    (host) => `its certificate is for other names than ${host}; set tls.servername to the name in the certificate`,
  ],
  [
    /NOT_YET_VALID|NotValidYet/i,
    () => "its certificate is not valid yet; check the clock of this machine and of the server",
    "passing",
  ],
  [/EXPIRED|\bExpired/i, () => "its certificate has expired; whoever runs the server has to renew it"],
  [
    /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|UnknownIssuer|CaUsedAsEndEntity|self.signed|unable to (get|verify)/i,
    () =>
      "its certificate is signed by nobody known here; set tls.ca to the certificate of the authority that signed it",
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH|InvalidContentType|corrupt message|HTTP_REQUEST/i,
    () => "it does not speak TLS on this port; use the port for TLS, often 5061, or another transport",
  ],
  [
    /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NoProtocol|ProtocolVersion|peer is incompatible/i,
    () => "it speaks no TLS of version 1.2 or later",
  ],
  [
    /CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE|UNKNOWN_CA|AlertReceived|\balert\b/i,
    () => "it refused us; if it wants a certificate of ours, set tls.cert and tls.key",
  ],
  [
    /KEY_VALUES_MISMATCH|NO_START_LINE|BAD_BASE64|PEM|DECODER|asn1|InvalidCertificate|keys? may not be/i,
    () => "tls.ca, tls.cert or tls.key is no certificate or key, or the key is that of another certificate",
  ],
];

/** Why there is no TLS connection to this hop, or no more; `otherwise` is what an unknown error counts as. */
export function tlsFault(
  cause: unknown,
  { host, address, port }: Pick<Hop, "host" | "address" | "port">,
  servername: string,
  otherwise: TransportFault = "tls",
): TransportError {
  if (cause instanceof TransportError) return cause;
  const { code = "", message = "" } = (cause ?? {}) as { code?: string; message?: string };
  const what = `TLS to ${host === address ? host : `${host} (${address})`} port ${port} failed`;
  const known = FAULTS.find(([said]) => said.test(code) || said.test(message));
  if (known === undefined) return networkFault(cause, what, otherwise);
  const original = message === "" ? code : message;
  return new TransportError("tls", `${what}: ${known[1](servername)} (${original})`, {
    cause,
    lasting: known[2] !== "passing",
  });
}
