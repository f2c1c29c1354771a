import { createSocket, type Socket } from "node:dgram";
import { realSystem, type System } from "../../../../src/ports/system.ts";
import { MediaClock } from "../../media-clock.ts";
import type { SocketAddress } from "../transport/transport.ts";
import { loadOpus } from "./codecs/opus.ts";
import type { MediaEngine, MediaListener, MediaOptions, MediaSession } from "./engine.ts";
import { PortPairs } from "./ports.ts";
import { type MediaSockets, RtpSession } from "./rtp-session.ts";

/** What an engine may be given. */
export interface ThreadEngineOptions {
  readonly system?: System | undefined;
  /** The wheel of all audio. Default: one of its own. */
  readonly clock?: MediaClock | undefined;
}

/** An engine whose calls live in this thread. */
export interface ThreadEngine extends MediaEngine {
  readonly clock: MediaClock;
}

/** Carries the audio of calls in this thread: a UDP socket per call, one wheel for all. */
export function createThreadEngine(options: ThreadEngineOptions = {}): ThreadEngine {
  const { system = realSystem } = options;
  const clock = options.clock ?? new MediaClock(system);
  const ports = new PortPairs(system);
  const sessions = new Set<RtpSession>();
  let closed = false;

  async function open(media: MediaOptions, listener: MediaListener): Promise<MediaSession> {
    if (closed) throw new Error("The media engine is closed.");
    if (media.sampleRate > 8_000) await loadOpus();
    const sockets = await ports.take(media.ports, (port) => UdpSockets.bind(media.address, port, ports));
    const session = new RtpSession({
      ...media,
      system,
      clock,
      sockets,
      listener,
      gone: (session) => sessions.delete(session),
    });
    sockets.serve(session);
    sessions.add(session);
    if (closed) await session.close();
    return session;
  }

  async function close(): Promise<void> {
    closed = true;
    await Promise.all([...sessions].map((session) => session.close()));
    if (options.clock === undefined) clock.close();
  }

  return { clock, open, close };
}

/** The sockets of one call. */
class UdpSockets implements MediaSockets {
  readonly port: number;
  readonly #rtp: Socket;
  readonly #address: string;
  readonly #ports: PortPairs;
  #rtcp: Socket | undefined;
  #session: RtpSession | undefined;
  #closed = false;

  private constructor(rtp: Socket, address: string, port: number, ports: PortPairs) {
    this.#rtp = rtp;
    this.#address = address;
    this.port = port;
    this.#ports = ports;
  }

  /** Undefined: somebody has the port. Rejects for an address that is not ours. */
  static async bind(address: string, port: number, ports: PortPairs): Promise<UdpSockets | undefined> {
    const socket = await bindUdp(address, port);
    return socket && new UdpSockets(socket, address, port, ports);
  }

  serve(session: RtpSession): void {
    this.#session = session;
    this.#rtp.on("message", (bytes, from) => session.datagram(bytes, from.address, from.port));
  }

  send(packet: Uint8Array, to: SocketAddress): void {
    sendUdp(this.#rtp, packet, to);
  }

  sendRtcp(packet: Uint8Array, to: SocketAddress): void {
    sendUdp(this.#rtcp ?? this.#rtp, packet, to);
  }

  openRtcp(multiplexed: boolean): void {
    if (multiplexed) {
      this.#rtcp?.close();
      this.#rtcp = undefined;
      return;
    }
    if (this.#rtcp !== undefined) return;
    void bindUdp(this.#address, this.port + 1).then(
      (socket) => {
        if (socket === undefined) return;
        if (this.#closed || this.#rtcp !== undefined) socket.close();
        else {
          this.#rtcp = socket;
          socket.on("message", (bytes, from) => this.#session?.control(bytes, from.address, from.port));
        }
      },
      () => {}, // without a port of its own RTCP goes out from the other one, and nothing of it comes back
    );
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#rtcp?.close();
    await new Promise<void>((resolve) => this.#rtp.close(resolve));
    this.#ports.release(this.port);
  }
}

/**
 * Deno makes an array of this size for every datagram, without it of 64 KiB, which keeps its garbage collector busy; at the
 * system's socket it changes nothing there. Elsewhere that is what it would do.
 */
const RECEIVE = "Deno" in globalThis ? { recvBufferSize: 1_024 } : {};

/** Addresses are never names: what is sent goes to the network before `send` returns, and its bytes may be used again. */
function lookup(host: string, options: unknown, then: (fault: null, address: string, family: number) => void): void {
  const callback = typeof options === "function" ? (options as typeof then) : then;
  callback(null, host, host.includes(":") ? 6 : 4);
}

function bindUdp(address: string, port: number): Promise<Socket | undefined> {
  const type = address.includes(":") ? "udp6" : "udp4";
  const socket = createSocket({ type, lookup: lookup as never, ...RECEIVE });
  return new Promise((resolve, reject) => {
    socket.once("error", (fault: Error & { code?: string }) => {
      socket.close();
      if (fault.code === "EADDRINUSE" || fault.code === "EACCES") resolve(undefined);
      else reject(fault);
    });
    socket.bind(port, address, () => {
      socket.removeAllListeners("error");
      socket.on("error", () => {}); // an address that cannot be reached: the watchdog will tell
      resolve(socket);
    });
  });
}

function sendUdp(socket: Socket, packet: Uint8Array, to: SocketAddress): void {
  // An address of zeros means that the far side wants nothing; the network would take it for this machine.
  if (to.port === 0 || to.address === "0.0.0.0" || to.address === "::") return;
  try {
    socket.send(packet, to.port, to.address);
  } catch {
    // A socket that is just being closed, or an address of the other family: the watchdog will tell.
  }
}
