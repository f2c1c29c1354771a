import type { Socket } from "node:net";
import type { SipMessage } from "../message/sip-message.ts";
import { type FramedItem, StreamFramer } from "../message/stream-framer.ts";
import { writeMessage } from "../message/write-message.ts";
import type { System } from "../ports.ts";
import { prepareIncoming } from "./incoming.ts";
import { KeepAlive } from "./keep-alive.ts";
import {
  type Flow,
  type FlowWatch,
  placeName,
  type SocketAddress,
  TransportError,
  type TransportKind,
  type TransportListener,
} from "./transport.ts";

/** Interval between keep-alives, short enough for firewalls, ms. */
const KEEP_ALIVE_MS = 30_000;
/** Time limit for the response to a keep-alive (RFC 5626 section 4.4.1), ms. */
const PONG_MS = 10_000;
/** Time limit for the rest of a message, ms. */
const STALL_MS = 30_000;
/** Maximum size of the buffer for a peer that reads slowly, bytes. */
const MAX_UNSENT_BYTES = 1 << 20;
const CRLF = new Uint8Array([13, 10]);

/** Options of {@link StreamFlow}. */
export interface StreamFlowOptions {
  readonly socket: Socket;
  readonly kind: Exclude<TransportKind, "udp">;
  readonly system: System;
  /** Time for which a flow that is not held may be idle before it is closed, ms. */
  readonly idleMs: number;
  /** Time for which a flow that is not held may be idle before its first message, ms. */
  readonly firstMs: number;
  readonly listener: () => TransportListener;
  readonly onMalformed: (from: SocketAddress, detail: string) => void;
  /** Turns a socket error into a TransportError. */
  readonly faultOf: (cause: unknown, remote: SocketAddress) => TransportError;
  readonly onClosed: (flow: StreamFlow, fault: TransportError) => void;
}

/** A TCP or TLS connection, opened by us or by the peer. */
export class StreamFlow implements Flow {
  readonly kind: Exclude<TransportKind, "udp">;
  readonly reliable = true;
  readonly local: SocketAddress;
  readonly remote: SocketAddress;
  /** True once a complete message has arrived. */
  hasSpoken = false;
  readonly #options: StreamFlowOptions;
  readonly #framer = new StreamFramer();
  readonly #keepAlive: KeepAlive;
  #usedAt: number;
  #isAlive = true;
  #fault: TransportError | undefined;
  #stopIdle = (): void => {};
  #stopStall: (() => void) | undefined;
  /** Number of reads with data. */
  #readCount = 0;
  #pingedAt = Number.NEGATIVE_INFINITY;
  /** True if the peer responds to keep-alives; false permanently if it sends CRLFs at other times too. */
  #respondsToPings: boolean | undefined;
  #stopPong: (() => void) | undefined;
  readonly #closed: Promise<void>;

  constructor(options: StreamFlowOptions) {
    const { socket, kind, system } = options;
    this.#options = options;
    this.kind = kind;
    this.local = { address: plainAddress(socket.localAddress), port: socket.localPort ?? 0 };
    this.remote = { address: plainAddress(socket.remoteAddress), port: socket.remotePort ?? 0 };
    this.#usedAt = system.monotonic();
    this.#keepAlive = new KeepAlive(system, KEEP_ALIVE_MS, (crlf) => this.#ping(crlf));
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on("data", (bytes: Uint8Array) => this.#onData(bytes));
    socket.on("error", (cause) => {
      this.#fault ??= options.faultOf(cause, this.remote);
    });
    socket.on("end", () => socket.destroySoon());
    this.#closed = new Promise((resolve) => socket.once("close", () => resolve(this.#onClosed())));
    this.#watchIdle(options.firstMs);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isHeld(): boolean {
    return this.#keepAlive.isHeld;
  }

  /** Time of the latest message in either direction, by the monotonic clock, ms. */
  get usedAt(): number {
    return this.#usedAt;
  }

  send(message: SipMessage, maySend?: () => boolean): boolean {
    if (!this.#isAlive) throw this.#fault ?? this.#closedError();
    const bytes = writeMessage(message);
    if (maySend?.() === false) return false;
    this.#write(bytes);
    return true;
  }

  hold(): () => void {
    return this.#keepAlive.hold();
  }

  watch(): FlowWatch {
    const reads = this.#readCount;
    const isSilent = (): boolean => this.#readCount === reads;
    return {
      get isSilent() {
        return isSilent();
      },
      close: (fault) => {
        if (!this.#isAlive || !isSilent()) return false;
        void this.close(fault);
        return true;
      },
    };
  }

  /** Ends the connection; resolves when it is closed. */
  close(fault?: TransportError): Promise<void> {
    this.#fault ??= fault;
    this.#isAlive = false;
    this.#options.socket.destroy();
    return this.#closed;
  }

  #write(bytes: Uint8Array): void {
    const { socket, system } = this.#options;
    this.#usedAt = system.monotonic();
    socket.write(bytes);
    if (socket.writableLength > MAX_UNSENT_BYTES)
      void this.close(new TransportError("limit", `${placeName(this.kind, this.remote)} does not read our messages`));
  }

  #onData(bytes: Uint8Array): void {
    if (!this.#isAlive) return;
    this.#usedAt = this.#options.system.monotonic();
    this.#readCount++;
    this.#stopPong?.();
    this.#stopPong = undefined;
    for (const item of this.#framer.push(bytes)) if (this.#isAlive) this.#dispatch(item);
    this.#watchStall();
  }

  #dispatch(item: FramedItem): void {
    switch (item.kind) {
      case "request":
      case "response":
        this.hasSpoken = true;
        this.#options.listener().message(prepareIncoming(item, this.remote).message, this);
        break;
      case "ping":
        this.#write(CRLF);
        break;
      case "pong":
        // A CRLF at any other time is a keep-alive from the peer, so earlier ones may have been keep-alives too.
        if (this.#usedAt - this.#pingedAt < PONG_MS) this.#respondsToPings ??= true;
        else this.#respondsToPings = false;
        break;
      case "malformed":
      case "fault":
        this.#options.onMalformed(this.remote, item.detail);
        if (item.response !== undefined) this.#write(writeMessage(item.response));
        if (item.kind === "fault") this.#cutOff(item.detail);
        break;
      default:
        item satisfies never;
    }
  }

  /** Closes the connection after pending responses: the start of the next message is unknown. */
  #cutOff(detail: string): void {
    this.#fault ??= new TransportError("closed", `${placeName(this.kind, this.remote)} sent no valid SIP: ${detail}`);
    this.#isAlive = false;
    this.#options.socket.destroySoon();
  }

  #watchIdle(ms: number): void {
    const { system } = this.#options;
    this.#stopIdle = system.after(ms, () => {
      const idleMs = this.hasSpoken ? this.#options.idleMs : this.#options.firstMs;
      const remainingMs = this.#usedAt + idleMs - system.monotonic();
      if (this.isHeld) this.#watchIdle(idleMs);
      else if (remainingMs > 0) this.#watchIdle(remainingMs);
      else void this.close(new TransportError("closed", `${placeName(this.kind, this.remote)} was idle`));
    });
  }

  /** Sends a keep-alive. If a peer that responds to keep-alives sends no data within 10 s, the connection is dead. */
  #ping(crlf: Uint8Array): void {
    this.#options.socket.write(crlf);
    this.#pingedAt = this.#options.system.monotonic();
    if (this.#respondsToPings !== true) return;
    const watch = this.watch();
    const detail = `${placeName(this.kind, this.remote)} did not respond to a keep-alive within ${PONG_MS / 1_000} s`;
    this.#stopPong ??= this.#options.system.after(PONG_MS, () => watch.close(new TransportError("closed", detail)));
  }

  #watchStall(): void {
    if (!this.#framer.isIncomplete || !this.#isAlive) {
      this.#stopStall?.();
      this.#stopStall = undefined;
      return;
    }
    this.#stopStall ??= this.#options.system.after(STALL_MS, () => {
      void this.close(
        new TransportError("timeout", `${placeName(this.kind, this.remote)} started a message and did not finish it`),
      );
    });
  }

  #onClosed(): void {
    this.#isAlive = false;
    this.#keepAlive.stop();
    this.#stopIdle();
    this.#stopStall?.();
    this.#stopPong?.();
    this.#options.onClosed(this, this.#fault ?? this.#closedError());
  }

  #closedError(): TransportError {
    return new TransportError("closed", `the connection to ${placeName(this.kind, this.remote)} is closed`);
  }
}

/** The address without an IPv4-mapped prefix. */
function plainAddress(address: string | undefined): string {
  return (address ?? "").replace(/^::ffff:(?=\d+\.)/i, "");
}
