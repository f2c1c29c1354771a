import { X509Certificate } from "node:crypto";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, type PeerCertificate, type TLSSocket } from "node:tls";
import type { System } from "../ports.ts";
import { addressOnly } from "./addresses.ts";
import { peerCertificateFault, readTls, realCertificateFault, type TlsOptions, type TlsTexts } from "./tls.ts";
import { type Hop, networkFault, placeName, TransportError } from "./transport.ts";

/** Options of a connection. */
export interface OpenStreamOptions {
  readonly system: System;
  readonly tls: TlsOptions;
  /** Our address. Default: chosen by the system. */
  readonly localAddress: string | undefined;
  readonly timeoutMs: number;
}

/** Opens a TCP or TLS connection. @throws {TransportError} */
export async function openSipStream(hop: Hop, options: OpenStreamOptions, signal: AbortSignal): Promise<Socket> {
  if (signal.aborted) throw new TransportError("closed", "the connection attempt was aborted");
  if (hop.kind !== "tls") {
    try {
      return await waitUntilConnected(startTcp(hop, options), hop, options, signal);
    } catch (cause) {
      throw networkFault(cause, `connecting to ${placeName("tcp", hop)} failed`);
    }
  }
  const servername = options.tls.servername ?? hop.host;
  const texts = await readTls(options.tls);
  const start = (insecure: boolean): TLSSocket => startTls(hop, options, servername, texts, insecure);
  try {
    return await waitUntilConnected(start(options.tls.insecure === true), hop, options, signal);
  } catch (cause) {
    throw peerCertificateFault(await realCertificateFault(cause, () => start(true)), hop, servername);
  }
}

/** Resolves with the socket when it is connected; otherwise closes it and rejects. */
function waitUntilConnected(
  socket: Socket,
  hop: Hop,
  options: OpenStreamOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const isTls = hop.kind === "tls";
  return new Promise((resolve, reject) => {
    const onError = (cause: unknown): void => {
      removeListeners();
      socket.on("error", () => {}); // later errors are ignored
      socket.destroy();
      reject(cause);
    };
    const onTimeout = (): void =>
      onError(
        new TransportError(
          "timeout",
          `${placeName(hop.kind, hop)} accepted no connection within ${options.timeoutMs} ms`,
        ),
      );
    const onAbort = (): void => onError(new TransportError("closed", "the connection attempt was aborted"));
    const onClose = (): void =>
      onError(
        new TransportError(isTls ? "tls" : "closed", `${placeName(hop.kind, hop)} closed the connection at once`),
      );
    const onConnect = (): void => {
      removeListeners();
      socket.setNoDelay(true);
      resolve(socket);
    };
    const stopTimer = options.system.after(options.timeoutMs, onTimeout);
    const removeListeners = (): void => {
      stopTimer();
      signal.removeEventListener("abort", onAbort);
      socket.off("error", onError);
      socket.off("close", onClose);
      socket.off(isTls ? "secureConnect" : "connect", onConnect);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    socket.on("error", onError);
    socket.on("close", onClose);
    socket.on(isTls ? "secureConnect" : "connect", onConnect);
    if (signal.aborted) onAbort();
  });
}

function startTcp({ address, port }: Hop, { localAddress }: OpenStreamOptions): Socket {
  return connectTcp({
    host: address,
    port,
    lookup: addressOnly,
    ...(localAddress === undefined ? {} : { localAddress }),
  });
}

function startTls(
  { address, port }: Hop,
  options: OpenStreamOptions,
  servername: string,
  { ca, cert, key }: TlsTexts,
  insecure: boolean,
): TLSSocket {
  return connectTls({
    host: address,
    port,
    lookup: addressOnly,
    ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress }),
    // An IP address is not a server name (RFC 6066 section 3); without a name, the certificate is checked against the
    // host.
    ...(isIP(servername) === 0 ? { servername } : {}),
    minVersion: "TLSv1.2",
    rejectUnauthorized: !insecure,
    ...(isIP(address) === 6 ? { checkServerIdentity: checkAddress } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}

/** Node 22 treats an IPv6 address as a domain name, and refuses every certificate for it. */
function checkAddress(host: string, certificate: PeerCertificate): Error | undefined {
  const fault = checkServerIdentity(host, certificate);
  const isNamed = fault !== undefined && isIP(host) === 6 && new X509Certificate(certificate.raw).checkIP(host);
  return isNamed ? undefined : fault;
}
