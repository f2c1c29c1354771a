import { readFile } from "node:fs/promises";
import type { TLSSocket } from "node:tls";
import { type Hop, networkFault, TransportError, type TransportFault } from "./transport.ts";

/** TLS options for connections to the server. */
export interface TlsOptions {
  /**
   * The CA certificate that the server's certificate is verified against: PEM text, or the path of a file. Default: the
   * runtime's CA certificates.
   */
  readonly ca?: string | undefined;
  /** The name in the server's certificate. Default: the host of `outboundProxy`, otherwise of `server`. */
  readonly servername?: string | undefined;
  /** Accepts any certificate. For tests. */
  readonly insecure?: boolean | undefined;
  /** Our certificate, if the server requires one: PEM text, or the path of a file. */
  readonly cert?: string | undefined;
  /** The key of `cert`: PEM text, or the path of a file. */
  readonly key?: string | undefined;
}

/** The PEM text of a trunk's certificates and key. */
export interface TlsTexts {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Reads the certificate files, again for every connection, since certificates are renewed. @throws {TransportError} */
export async function readTls(tls: TlsOptions): Promise<TlsTexts> {
  const [ca, cert, key] = await Promise.all([
    pemText("tls.ca", tls.ca),
    pemText("tls.cert", tls.cert),
    pemText("tls.key", tls.key),
  ]);
  return { ca, cert, key };
}

async function pemText(option: string, textOrPath: string | undefined): Promise<string | undefined> {
  if (textOrPath === undefined || textOrPath.includes("-----BEGIN")) return textOrPath;
  let text: string;
  try {
    text = await readFile(textOrPath, "utf8");
  } catch (cause) {
    const { code } = cause as { code?: string };
    const reason = code === "ENOENT" ? "there is no such file" : `it cannot be read (${code ?? String(cause)})`;
    throw new TransportError("tls", `${option} names the file ${textOrPath}: ${reason}`, { cause, isPermanent: true });
  }
  if (text.includes("-----BEGIN")) return text;
  throw new TransportError("tls", `${option} names the file ${textOrPath}: it is not in PEM format`, {
    isPermanent: true,
  });
}

/** Patterns for the runtimes' errors (OpenSSL's codes on Node and Bun, rustls' messages on Deno), with the fix. */
const FAULTS: readonly (readonly [pattern: RegExp, sentence: (host: string) => string, temporary?: "temporary"])[] = [
  [
    /HOSTNAME_MISMATCH|ALTNAME_INVALID|NotValidForName/i,
    (host) => `its certificate does not cover ${host}; set tls.servername to the name in the certificate`,
  ],
  [
    /NOT_YET_VALID|NotValidYet/i,
    () => "its certificate is not valid yet; check this machine's clock and the server's",
    "temporary",
  ],
  [/EXPIRED|\bExpired/i, () => "its certificate has expired; the server's operator has to renew it"],
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

/** The fault of a TLS connection to this hop. @param unknownFault the fault if the error is unknown */
export function peerCertificateFault(
  cause: unknown,
  { host, address, port }: Pick<Hop, "host" | "address" | "port">,
  servername: string,
  unknownFault: TransportFault = "tls",
): TransportError {
  if (cause instanceof TransportError) return cause;
  const { code = "", message = "" } = (cause ?? {}) as { code?: string; message?: string };
  const action = `TLS to ${host === address ? host : `${host} (${address})`} port ${port} failed`;
  const match = FAULTS.find(([pattern]) => pattern.test(code) || pattern.test(message));
  if (match === undefined) return networkFault(cause, action, unknownFault);
  const originalText = message === "" ? code : message;
  return new TransportError("tls", `${action}: ${match[1](servername)} (${originalText})`, {
    cause,
    isPermanent: match[2] !== "temporary",
  });
}

/** Time limit for the handshake that reads a certificate, ms. */
const TIMEOUT_MS = 2_000;

/**
 * The real fault of an unverified certificate if the runtime hides it: Deno reports an expired certificate as one from
 * an unknown authority. Reads the certificate in a second handshake, without verification; no message is sent.
 *
 * @param openUnverified starts a handshake that accepts any certificate
 */
export async function realCertificateFault(fault: unknown, openUnverified: () => TLSSocket): Promise<unknown> {
  if ((fault as { code?: string }).code !== "UNABLE_TO_VERIFY_LEAF_SIGNATURE") return fault;
  const dates = await certificateDates(openUnverified);
  if (dates === undefined) return fault;
  const now = Date.now();
  const code = dates.until < now ? "CERT_HAS_EXPIRED" : dates.from > now ? "CERT_NOT_YET_VALID" : undefined;
  return code === undefined ? fault : Object.assign(new Error(code, { cause: fault }), { code });
}

async function certificateDates(openUnverified: () => TLSSocket): Promise<{ from: number; until: number } | undefined> {
  const socket = openUnverified();
  try {
    return await new Promise((resolve) => {
      socket.once("secureConnect", () => {
        const { valid_from, valid_to } = socket.getPeerCertificate();
        const dates = { from: Date.parse(valid_from), until: Date.parse(valid_to) };
        resolve(Number.isNaN(dates.from) || Number.isNaN(dates.until) ? undefined : dates);
      });
      socket.setTimeout(TIMEOUT_MS, () => resolve(undefined));
      socket.on("error", () => resolve(undefined));
      socket.once("close", () => resolve(undefined));
    });
  } finally {
    socket.destroy();
  }
}
