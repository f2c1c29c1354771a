import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { System } from "../../../../src/ports/system.ts";
import type { TrunkTls } from "../config/trunk.ts";
import { networkFault, placeName } from "./network-fault.ts";
import { readTls } from "./pem.ts";
import { tlsFault } from "./tls-fault.ts";
import { type Hop, TransportError } from "./transport.ts";

/** What a connection needs. */
export interface OpenStreamOptions {
  readonly system: System;
  readonly tls: TrunkTls;
  /** Our end, where it is not left to the system. */
  readonly localAddress: string | undefined;
  readonly timeoutMs: number;
}

/** Opens a connection of TCP or TLS. @throws {TransportError} */
export async function openStream(hop: Hop, options: OpenStreamOptions, signal: AbortSignal): Promise<Socket> {
  const secure = hop.kind === "tls";
  const servername = options.tls.servername ?? hop.host;
  const fault = (cause: unknown): TransportError =>
    secure ? tlsFault(cause, hop, servername) : networkFault(cause, `Connecting to ${placeName("tcp", hop)} failed`);
  if (signal.aborted) throw new TransportError("closed", "The connection was given up");
  let socket: Socket;
  try {
    socket = secure ? await startTls(hop, options, servername) : startTcp(hop, options);
  } catch (cause) {
    throw fault(cause);
  }
  return new Promise((resolve, reject) => {
    const failed = (cause: unknown): void => {
      settle();
      socket.on("error", () => {}); // what it may still say after this
      socket.destroy();
      reject(fault(cause));
    };
    const late = (): void =>
      failed(
        new TransportError("timeout", `${placeName(hop.kind, hop)} took no connection within ${options.timeoutMs} ms`),
      );
    const given = (): void => failed(new TransportError("closed", "The connection was given up"));
    const gone = (): void =>
      failed(
        new TransportError(secure ? "tls" : "closed", `${placeName(hop.kind, hop)} closed the connection at once`),
      );
    const connected = (): void => {
      settle();
      socket.setNoDelay(true);
      resolve(socket);
    };
    const stopTimer = options.system.after(options.timeoutMs, late);
    const settle = (): void => {
      stopTimer();
      signal.removeEventListener("abort", given);
      socket.off("error", failed);
      socket.off("close", gone);
      socket.off(secure ? "secureConnect" : "connect", connected);
    };
    signal.addEventListener("abort", given, { once: true });
    socket.on("error", failed);
    socket.on("close", gone);
    socket.on(secure ? "secureConnect" : "connect", connected);
    if (signal.aborted) given();
  });
}

function startTcp({ address, port }: Hop, { localAddress }: OpenStreamOptions): Socket {
  return connectTcp({ host: address, port, ...(localAddress === undefined ? {} : { localAddress }) });
}

async function startTls(hop: Hop, options: OpenStreamOptions, servername: string): Promise<Socket> {
  const { ca, cert, key } = await readTls(options.tls);
  const { address, port } = hop;
  return connectTls({
    host: address,
    port,
    ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress }),
    // An IP address is no server name (RFC 6066 section 3); without one the certificate is held against the host.
    ...(isIP(servername) === 0 ? { servername } : {}),
    minVersion: "TLSv1.2",
    rejectUnauthorized: options.tls.insecure !== true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}
