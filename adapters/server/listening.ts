import { networkInterfaces } from "node:os";
import { CodedError } from "../../src/base/error.ts";
import type { WebApp } from "../../src/ports/web.ts";

/** An application to serve, such as a Ringport, which may accept its own address. */
export interface ServedApp extends WebApp {
  listeningAt?(url: string): void;
  /**
   * The URL at which users reach the application, if known; without one, a server on loopback accepts only local hosts.
   */
  readonly publicUrl?: string | undefined;
}

/** A server's certificate and private key, in PEM format. */
export interface Tls {
  /** The certificate, followed by the intermediate certificates. */
  readonly cert: string;
  /** The private key, without a passphrase. */
  readonly key: string;
}

/** The address to listen on, and limits for connections. */
export interface ServeOptions {
  /** Port to listen on; 0 picks a free port. Default: 8080. */
  readonly port?: number | undefined;
  /** Address to bind: 127.0.0.1 accepts only this machine, 0.0.0.0 the whole network. Default: 127.0.0.1. */
  readonly hostname?: string | undefined;
  /** Time after which a connection is closed if the client does not read the response, ms. Default: 60,000. */
  readonly stallMs?: number | undefined;
  /** Serves HTTPS and secure WebSockets instead of HTTP. */
  readonly tls?: Tls | undefined;
}

/** A listening server. */
export interface Listening {
  /** URL of the server on this machine, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /**
   * Uses a renewed certificate for new connections. Missing without `tls`, and on Bun and Deno, which cannot replace a
   * certificate.
   * @throws {CannotListen} the certificate or its key cannot be used; the old one stays in use
   */
  setCertificate?(tls: Tls): void;
  /** Stops listening, gives running requests a second to end, then closes all connections. Idempotent. */
  close(): Promise<void>;
}

/** Thrown if the server cannot listen on its address; the message names the address and the fix. */
export class CannotListen extends CodedError {
  override readonly name = "CannotListen";
  readonly code = "cannot_listen";
}

export const DEFAULT_PORT = 8080;
export const DEFAULT_HOSTNAME = "127.0.0.1";

/** Time limit for running requests after `close()`, ms. */
export const CLOSE_GRACE_MS = 1_000;
/** Maximum size of a WebSocket message, bytes. */
export const MAX_MESSAGE_BYTES = 1 << 20;
/** Maximum number of bytes read and discarded after an early response. */
export const MAX_DRAINED_BYTES: number = 64 << 20;
/**
 * Maximum time spent discarding a body, ms. If the body were not read, the client would get a reset instead of the
 * response.
 */
export const MAX_DRAINED_MS = 2_000;
/** Time after which a connection is closed if the client does not read the response, ms. */
export const STALL_MS = 60_000;
/** Length of silence after which a connection is probed or closed, s. */
export const IDLE_SECONDS = 120;
/**
 * Length of silence after which a WebSocket is probed or closed, s: a lost network sends no close, and a WebSocket that
 * seems open keeps others from taking its place.
 */
export const SOCKET_IDLE_SECONDS = 10;
/**
 * Interval between pings on a WebSocket that is not being read, ms: only a write reveals that the client has
 * disconnected.
 */
export const PAUSED_PING_MS = 1_000;

type Scheme = "http" | "https";

/** The URL at which this machine reaches a server on this address. */
export function localUrl(hostname: string, port: number, scheme: Scheme = "http"): string {
  return `${scheme}://${inUrl(isWildcard(hostname) ? DEFAULT_HOSTNAME : hostname)}:${port}`;
}

/** The URL at which other machines reach the server; for a wildcard address, this machine's first network address. */
export function reachableUrl(hostname: string, port: number, scheme: Scheme = "http"): string {
  const address = isWildcard(hostname) ? networkAddress() : undefined;
  return address ? `${scheme}://${address}:${port}` : localUrl(hostname, port, scheme);
}

/** Explains a runtime's error from listening, in a sentence for the operator. */
export function cannotListen(hostname: string, port: number, cause: unknown): CannotListen {
  const { code, name, message } = cause as { code?: string; name?: string; message?: string };
  const address = `port ${port} on ${hostname}`;
  const sentence = (): string => {
    if (code === "EADDRINUSE" || name === "AddrInUse")
      return `${address} is in use: stop the program that uses it or choose another port, such as PORT=${nextPort(port)}`;
    if (code === "EACCES" || name === "PermissionDenied")
      return `${address} may not be used by this user: choose a port from 1024 on, such as PORT=${DEFAULT_PORT}`;
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN" || name === "AddrNotAvailable")
      return `${hostname} is not an address of this machine: use HOST=${DEFAULT_HOSTNAME}, or HOST=0.0.0.0 for all`;
    return `${address} cannot be used: ${message ?? String(cause)}`;
  };
  return new CannotListen(sentence(), { cause });
}

function nextPort(port: number): number {
  return port < 65_535 ? port + 1 : DEFAULT_PORT;
}

function isWildcard(hostname: string): boolean {
  return hostname === "0.0.0.0" || hostname === "::" || hostname === "[::]";
}

function inUrl(hostname: string): string {
  return hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
}

function networkAddress(): string | undefined {
  try {
    const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    return interfaces.find(({ internal, family }) => !internal && family === "IPv4")?.address;
  } catch {
    return undefined; // Deno without --allow-sys
  }
}
