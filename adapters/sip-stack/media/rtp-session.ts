import {
  type ClockMember,
  errorText,
  FRAME_MS,
  type FrameSink,
  type FrameSource,
  type MediaClock,
  type System,
} from "../ports.ts";
import { type AddressCheck, addressCheck } from "../transport/addresses.ts";
import type { Codec } from "./codecs/codec.ts";
import { createCodec } from "./codecs/create-codec.ts";
import type {
  MediaListener,
  MediaOptions,
  MediaSession,
  MediaStatistics,
  SendDeadline,
  StreamEvidence,
  StreamSettings,
} from "./engine.ts";
import { Inbound, type InboundListener } from "./inbound.ts";
import { MediaWatch, type PacketSender } from "./media-watch.ts";
import { Outbound } from "./outbound.ts";
import { PeerHosts } from "./peer-hosts.ts";
import type { MediaSockets } from "./port-pairs.ts";
import { Protection } from "./protection.ts";
import { isRtcp } from "./rtcp.ts";
import { RtcpRoute } from "./rtcp-route.ts";
import { RtcpSession } from "./rtcp-session.ts";
import { mediaStatistics } from "./session-statistics.ts";
import type { PacketBuffer } from "./shared-frame.ts";

/** Lateness of a tick from which the thread counts as stalled, ms; ticks are 20 ms apart. */
const STALL_MS = 10;

/** Options of a session. */
export interface RtpSessionOptions extends MediaOptions {
  readonly system: System;
  readonly clock: MediaClock;
  readonly deadlines: SendDeadline;
  readonly sockets: MediaSockets;
  readonly listener: MediaListener;
  /** Called when it is closed and its port is free. */
  readonly onClosed: (session: RtpSession) => void;
}

/** The audio of one call in this thread: RTP and RTCP (RFC 3550) over UDP, on the timer wheel that all calls share. */
export class RtpSession implements MediaSession, ClockMember, InboundListener {
  readonly port: number;
  readonly #options: RtpSessionOptions;
  readonly #inbound: Inbound;
  readonly #outbound: Outbound;
  readonly #rtcp: RtcpSession;
  readonly #protection = new Protection();
  readonly #watch: MediaWatch;
  readonly #rtcpRoute: RtcpRoute;
  readonly #isAllowed: AddressCheck;
  readonly #hosts: PeerHosts;
  #source: FrameSource | undefined;
  #sink: FrameSink | undefined;
  #earlySink: FrameSink | undefined;
  #settings: StreamSettings | undefined;
  #codec: Codec | undefined;
  #isStarted = false;
  #isSending = false;
  #closePromise: Promise<void> | undefined;
  /** Time of the current frame; advances by exactly 20 ms per tick, even if ticks are late. */
  #now = -1;
  #tickedAt = 0;
  #isStalled = false;
  #hasFailed = false;
  #refusedPackets = 0;
  #heldMs = 0;

  constructor(options: RtpSessionOptions) {
    const { system, sampleRate, sockets, lossMs, strictRtp = false } = options;
    this.#options = options;
    this.port = sockets.port;
    this.#hosts = new PeerHosts({ hasNamedNetworks: options.from?.ranges !== undefined });
    this.#inbound = new Inbound(sampleRate, this, this.#hosts, strictRtp);
    this.#outbound = new Outbound(system, sampleRate, this.#transmit);
    this.#watch = new MediaWatch(lossMs);
    this.#isAllowed = options.from === undefined ? () => true : addressCheck(options.from);
    this.#rtcp = new RtcpSession(system, this.#inbound, this.#outbound);
    const { source } = this.#inbound;
    const reports = this.#rtcp;
    this.#rtcpRoute = new RtcpRoute({ reports, source, protection: this.#protection, sockets, strict: strictRtp });
  }

  connect(source: FrameSource, sink: FrameSink, earlySink?: FrameSink): void {
    this.#source = source;
    this.#sink = sink;
    this.#earlySink = earlySink;
  }

  configure(settings: StreamSettings): void {
    if (this.#closePromise !== undefined) return;
    this.#settings = settings;
    this.#hosts.apply(settings);
    this.#watch.recordRenegotiation(settings.direction, this.#options.system.monotonic());
    if (this.#protection.setKeys(settings.srtp)) this.#outbound.renew();
    this.#rtcpRoute.configure(settings);
    if (settings.codec === this.#codec?.name) this.#applyCodec(settings, this.#codec);
    else {
      const codec = createCodec(settings.codec);
      if (codec instanceof Promise)
        void codec.then((loadedCodec) => this.#applyCodec(settings, loadedCodec), this.tickFailed);
      else this.#applyCodec(settings, codec);
    }
  }

  start(): void {
    if (this.#isStarted || this.#closePromise !== undefined) return;
    this.#isStarted = true;
    this.#outbound.onAnswer();
    this.#inbound.source.hasHeardIgnoredHost = false;
    this.#inbound.start(this.#watch.start(this.#options.system.monotonic()));
    this.#sendNow();
  }

  async sendDigits(digits: string): Promise<void> {
    if (this.#closePromise !== undefined) return;
    if (this.#settings !== undefined && this.#settings.telephoneEvent === undefined)
      throw new Error("the peer accepts no telephone-events");
    await new Promise<void>((resolve) => this.#outbound.keys.add(digits, resolve));
  }

  get codec(): StreamSettings["codec"] | undefined {
    return this.#settings?.codec;
  }

  statistics(): MediaStatistics {
    return mediaStatistics({
      codec: this.#codec?.name ?? this.#settings?.codec ?? "PCMU",
      inbound: this.#inbound,
      outbound: this.#outbound,
      rtcp: this.#rtcp,
      refusedPackets: this.#refusedPackets,
      heldMs: this.#heldMs,
    });
  }

  evidence(): StreamEvidence {
    const { evidence } = this.#watch;
    return this.#inbound.source.hasHeardIgnoredHost ? { ...evidence, fromOtherHost: true } : evidence;
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  /** @internal a datagram on the RTP port; it is modified and kept */
  datagram(bytes: Uint8Array, address: string, port: number): void {
    if (this.#settings === undefined || this.#closePromise !== undefined) return;
    if (!this.#isAllowed(address)) {
      this.#refusedPackets++;
      return;
    }
    if (isRtcp(bytes, bytes.length)) {
      this.control(bytes, address, port);
      return;
    }
    const length = this.#protection.unprotect(bytes, bytes.length);
    if (length <= 0) {
      this.#refusedPackets++;
      this.#inbound.source.countForged(address, port);
      return;
    }
    const now = this.#options.system.monotonic();
    const isTimely = !this.#isStalled && now - this.#tickedAt < FRAME_MS + STALL_MS;
    const isFromSource = this.#inbound.take(bytes, length, address, port, now, isTimely);
    if (!isFromSource && (this.#settings.srtp === undefined || this.#options.strictRtp)) return;
    this.#watch.recordRtp(now, isTimely, this.#sender(address));
    this.#reportEvidence();
  }

  /** @internal a datagram on the RTCP port, or RTCP on the RTP port */
  control(bytes: Uint8Array, address: string, port: number): void {
    if (this.#settings === undefined || this.#closePromise !== undefined) return;
    if (!this.#isAllowed(address)) {
      this.#refusedPackets++;
      return;
    }
    const report = this.#rtcpRoute.take(bytes, address, port);
    if (report === undefined) {
      this.#refusedPackets++;
      return;
    }
    this.#watch.recordRtcp(
      this.#rtcp.isDeaf,
      report === "goodbye",
      this.#options.system.monotonic(),
      this.#sender(address),
    );
    this.#reportEvidence();
  }

  /** @internal a clock tick: one frame in each direction */
  tick(): void {
    const monotonic = this.#options.system.monotonic();
    this.#now = this.#now < 0 ? monotonic : this.#now + FRAME_MS;
    // A late tick, and the ticks that follow immediately to catch up, run before the sockets are read.
    this.#isStalled = monotonic - this.#now > STALL_MS || monotonic - this.#tickedAt < STALL_MS;
    this.#tickedAt = monotonic;
    this.#inbound.tick(this.#now, this.#isStalled, this.#isStarted ? this.#sink : this.#earlySink);
    if (this.#closePromise !== undefined) return;
    if (this.#isOverdue) {
      this.#outbound.pause();
      return;
    }
    if (this.#maySend) this.#outbound.tick(this.#isStarted ? this.#source : undefined);
    else {
      this.#outbound.pause();
      if (this.#isStarted && this.#inbound.source.target.port !== 0) this.#heldMs += FRAME_MS;
    }
    if (this.#closePromise !== undefined) return;
    if (this.#rtcp.isDue(monotonic)) this.#rtcpRoute.send(false);
    const silence = this.#hasFailed ? undefined : this.#watch.silenceReport(monotonic);
    if (silence !== undefined) this.#options.listener.silent(silence);
  }

  /** @internal */
  readonly tickFailed = (fault: unknown): void => {
    if (this.#closePromise === undefined && !this.#hasFailed) {
      this.#hasFailed = true;
      this.#options.listener.lost(`the call's audio failed: ${errorText(fault)}`);
    }
  };

  /** @internal */
  firstAudio(): void {
    this.#options.listener.receiving();
  }

  /** @internal */
  digit(digit: string): void {
    this.#options.listener.digit(digit);
  }

  /** The sender of an accepted packet from this address. */
  #sender(address: string): PacketSender {
    if (this.#settings?.srtp !== undefined || this.#hosts.has(address)) return "peer"; // only the peer has the keys
    return address === this.#inbound.source.target.address ? "followed" : "other";
  }

  /** False while the peer has no address, because its source is not known yet. */
  get #maySend(): boolean {
    const direction = this.#inbound.source.target.port === 0 ? undefined : this.#settings?.direction;
    return direction === "sendrecv" || direction === "sendonly";
  }

  get #isOverdue(): boolean {
    const { system, deadlines } = this.#options;
    return system.monotonic() >= deadlines.send;
  }

  #applyCodec(settings: StreamSettings, codec: Codec): void {
    if (this.#settings !== settings || this.#closePromise !== undefined) {
      if (codec !== this.#codec) codec.close();
      return;
    }
    const previous = this.#codec;
    this.#codec = codec;
    this.#inbound.configure(settings, codec, this.#options.system.monotonic());
    this.#outbound.configure(settings, codec);
    if (previous !== codec) previous?.close();
    if (previous !== undefined) return;
    if (this.#isStarted) this.#sendNow();
    // Silence before the answer opens NATs for early media.
    this.#options.clock.add(this);
  }

  /**
   * Sends the first packet immediately instead of at the next tick, unless packets have been sent before the answer.
   */
  #sendNow(): void {
    if (this.#codec === undefined || !this.#maySend || this.#isOverdue) return;
    if (this.#outbound.sentPackets > 0) this.#reportSending();
    else this.#outbound.begin(this.#source);
  }

  readonly #transmit = (packet: PacketBuffer, length: number): void => {
    const bytes = this.#protection.protect(packet.bytes, length);
    // Source and codec may have been slow, and the process may have been stopped in the meantime.
    if (bytes <= 0 || this.#isOverdue) return;
    this.#options.sockets.send(packet.first(bytes), this.#inbound.source.target);
    if (this.#isStarted) this.#reportSending();
  };

  #reportEvidence(): void {
    if (!this.#watch.takeEvidence()) return;
    const { listener } = this.#options;
    listener.heardByPeer?.();
    if (!this.#inbound.hasAudio) listener.evidence?.();
  }

  #reportSending(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    this.#options.listener.sending();
  }

  async #close(): Promise<void> {
    const { clock, sockets, onClosed } = this.#options;
    clock.remove(this);
    if (this.#codec !== undefined) this.#rtcpRoute.send(true);
    this.#outbound.keys.stop();
    this.#codec?.close();
    this.#source = this.#sink = this.#earlySink = undefined;
    await sockets.close();
    onClosed(this);
  }
}
