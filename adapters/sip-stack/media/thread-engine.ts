import { type AudioThread, ClosedError, MediaClock, NO_DEADLINES, realSystem, type System } from "../ports.ts";
import { isWildcard } from "../transport/addresses.ts";
import type { SocketAddress } from "../transport/transport.ts";
import { loadOpus } from "./codecs/opus.ts";
import {
  type MediaEngine,
  type MediaListener,
  type MediaOptions,
  MediaOverloaded,
  type MediaSession,
  type SendDeadline,
} from "./engine.ts";
import { bindMediaSocket, type MediaSocket } from "./media-socket.ts";
import { type MediaSockets, PortPairs } from "./port-pairs.ts";
import { RtpSession } from "./rtp-session.ts";
import { ThreadLoad } from "./worker/thread-load.ts";

/** Options of an engine. */
export interface ThreadEngineOptions {
  readonly system?: System | undefined;
  /** The timer wheel for all audio. Default: a separate one. */
  readonly clock?: MediaClock | undefined;
  /** The ports of its calls. Default: not shared with another engine. */
  readonly ports?: PortPairs | undefined;
  /** True to refuse calls while the audio is late. Default: false. */
  readonly refusesWhenLate?: boolean | undefined;
}

/** An engine whose calls run in this thread. */
export interface ThreadEngine extends MediaEngine {
  readonly clock: MediaClock;
}

/** Carries the audio of calls in this thread: a UDP socket per call, one timer wheel for all. */
export function createThreadEngine(options: ThreadEngineOptions = {}): ThreadEngine {
  const { system = realSystem } = options;
  const clock = options.clock ?? new MediaClock(system);
  const ports = options.ports ?? new PortPairs(system);
  const load = new ThreadLoad(clock);
  const sessions = new Set<RtpSession>();
  let isClosed = false;

  async function open(
    media: MediaOptions,
    listener: MediaListener,
    deadlines: SendDeadline = NO_DEADLINES,
  ): Promise<MediaSession> {
    if (isClosed) throw new ClosedError("the media engine is closed");
    if (options.refusesWhenLate && load.isOverloaded) throw new MediaOverloaded(threads());
    if (media.mayUseOpus) await loadOpus();
    const sockets = await ports.take(media.ports, (port) => UdpSockets.bind(media.address, port, ports));
    const session = new RtpSession({
      ...media,
      system,
      clock,
      deadlines,
      sockets,
      listener,
      onClosed(session) {
        sessions.delete(session);
        load.setCalls(sessions.size);
      },
    });
    sockets.serve(session);
    sessions.add(session);
    load.setCalls(sessions.size);
    if (isClosed) await session.close();
    return session;
  }

  async function close(): Promise<void> {
    isClosed = true;
    await Promise.all([...sessions].map((session) => session.close()));
    if (options.clock === undefined) clock.close();
  }

  function threads(): readonly AudioThread[] {
    const { latenessMs, isOverloaded } = load;
    return [{ number: 0, calls: sessions.size, latenessMs, isOverloaded }];
  }

  return { clock, open, close, threads };
}

/** The sockets of one call. */
class UdpSockets implements MediaSockets {
  readonly port: number;
  readonly #address: string;
  readonly #ports: PortPairs;
  #rtp: MediaSocket | undefined;
  #rtcp: MediaSocket | undefined;
  #session: RtpSession | undefined;
  #isClosed = false;

  private constructor(address: string, port: number, ports: PortPairs) {
    this.#address = address;
    this.port = port;
    this.#ports = ports;
  }

  /** Binds the RTP port; returns undefined if another program uses it. Rejects if the address is not local. */
  static async bind(address: string, port: number, ports: PortPairs): Promise<UdpSockets | undefined> {
    const sockets = new UdpSockets(address, port, ports);
    sockets.#rtp = await bindMediaSocket(address, port, (bytes, from, port) =>
      sockets.#session?.datagram(bytes, from, port),
    );
    return sockets.#rtp && sockets;
  }

  serve(session: RtpSession): void {
    this.#session = session;
  }

  send(packet: Uint8Array, to: SocketAddress): void {
    sendUdp(this.#rtp, packet, to);
  }

  sendRtcp(packet: Uint8Array, to: SocketAddress): void {
    sendUdp(this.#rtcp ?? this.#rtp, packet, to);
  }

  openRtcp(multiplexed: boolean): void {
    if (multiplexed) {
      void this.#rtcp?.close();
      this.#rtcp = undefined;
      return;
    }
    if (this.#rtcp !== undefined) return;
    void bindMediaSocket(this.#address, this.port + 1, (bytes, from, port) =>
      this.#session?.control(bytes, from, port),
    ).then(
      (socket) => {
        if (this.#isClosed || this.#rtcp !== undefined) void socket?.close();
        else this.#rtcp = socket;
      },
      () => {}, // RTCP is then sent from the RTP port, and the peer's reports do not arrive
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([this.#rtcp?.close(), this.#rtp?.close()]);
    this.#ports.release(this.port);
  }
}

function sendUdp(socket: MediaSocket | undefined, packet: Uint8Array, to: SocketAddress): void {
  // An address of zeros means that the peer wants no audio; the network would treat it as this machine.
  if (to.port === 0 || isWildcard(to.address)) return;
  try {
    socket?.send(packet, to.port, to.address);
  } catch {
    // A closing socket, or an address of the other family: the media watch reports it.
  }
}
