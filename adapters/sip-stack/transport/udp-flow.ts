import type { SipMessage } from "../message/sip-message.ts";
import { writeMessage } from "../message/write-message.ts";
import type { System } from "../ports.ts";
import { KeepAlive } from "./keep-alive.ts";
import type { Flow, SocketAddress, TransportError } from "./transport.ts";
import type { UdpSocket } from "./udp-socket.ts";

/** Interval between keep-alives, short enough for home routers' NATs (RFC 5626 section 4.4.2), ms. */
const KEEP_ALIVE_MS = 25_000;

/** A peer's address on our UDP socket. */
export class UdpFlow implements Flow {
  readonly kind = "udp";
  readonly reliable = false;
  readonly remote: SocketAddress;
  /** Times of the latest exploration of the route to the peer, and of its latest datagram; by the monotonic clock, ms. */
  exploredAt = Number.NEGATIVE_INFINITY;
  receivedAt = Number.NEGATIVE_INFINITY;
  /** The network's last report that the peer is unreachable, and its time; by the monotonic clock, ms. */
  refusal: { readonly fault: TransportError; readonly at: number } | undefined;
  /** The first route lookup; until it has finished, our address is a guess. */
  firstExploration: Promise<void> | undefined;
  readonly #socket: UdpSocket;
  readonly #onFailure: (flow: UdpFlow, fault: TransportError) => void;
  readonly #keepAlive: KeepAlive;
  #address: string;

  constructor(
    socket: UdpSocket,
    remote: SocketAddress,
    address: string,
    system: System,
    onFailure: (flow: UdpFlow, fault: TransportError) => void,
  ) {
    this.#socket = socket;
    this.remote = remote;
    this.#address = address;
    this.#onFailure = onFailure;
    this.#keepAlive = new KeepAlive(system, KEEP_ALIVE_MS, (crlf) => this.#send(crlf));
  }

  get local(): SocketAddress {
    return { address: this.#address, port: this.#socket.boundAddress.port };
  }

  get isAlive(): boolean {
    return this.#socket.isOpen;
  }

  get isHeld(): boolean {
    return this.#keepAlive.isHeld;
  }

  send(message: SipMessage, maySend?: () => boolean): boolean {
    const bytes = writeMessage(message);
    if (maySend?.() === false) return false;
    this.#send(bytes);
    return true;
  }

  hold(): () => void {
    return this.#keepAlive.hold();
  }

  /** Sets the local address that the peer is reached from, as the system reports it. */
  setLocalAddress(address: string): void {
    this.#address = address;
  }

  /** Stops the keep-alives: the socket is about to be closed. */
  stop(): void {
    this.#keepAlive.stop();
  }

  #send(bytes: Uint8Array): void {
    this.#socket.send(bytes, this.remote, (fault) => this.#onFailure(this, fault));
  }
}
