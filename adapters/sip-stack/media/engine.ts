import {
  type AudioThread,
  CodedError,
  type Deadlines,
  type FrameSink,
  type FrameSource,
  type HeardEvidence,
  type MediaStatistics,
} from "../ports.ts";
import type { AddressRule } from "../transport/addresses.ts";
import type { SocketAddress } from "../transport/transport.ts";
import type { CodecName } from "./codecs/codec.ts";

export type { MediaStatistics };

/**
 * The audio of calls, apart from their signalling: sockets, codecs, keys, clock. All parameters are plain data and
 * callbacks without results, so that an engine may run in this thread or in a worker.
 */
export interface MediaEngine {
  /**
   * Opens a session on a free port.
   * @param deadlines after `send` only an RTCP BYE is sent; default: no deadline
   * @throws {PortsExhausted} every port in the range is in use; the message names the range
   * @throws {MediaOverloaded} the audio of calls is late in every thread
   */
  open(options: MediaOptions, listener: MediaListener, deadlines?: SendDeadline): Promise<MediaSession>;
  /** The threads that carry calls, in the order of their numbers. */
  threads(): readonly AudioThread[];
  /** Ends every session. Idempotent. */
  close(): Promise<void>;
}

/** Maximum number of threads besides the application's. */
export const MAX_MEDIA_THREADS = 127;

/** Time until which packets may be sent. */
export type SendDeadline = Pick<Deadlines, "send">;

/** Every port in the range is in use. */
export class PortsExhausted extends CodedError {
  override readonly name = "PortsExhausted";
  readonly code = "ports_exhausted";
}

/** The audio of calls is late in every thread, so that another call would make it later. */
export class MediaOverloaded extends CodedError {
  override readonly name = "MediaOverloaded";
  readonly code = "media_overloaded";
  constructor(threads: readonly AudioThread[]) {
    const minMs = Math.min(...threads.map(({ latenessMs }) => latenessMs));
    const calls = threads.reduce((sum, thread) => sum + thread.calls, 0);
    super(
      `the audio of calls over SIP is ${Math.round(minMs)} ms late (live calls: ${calls}): the server is overloaded`,
    );
  }
}

export interface MediaOptions {
  /** Address to bind: in the family and on the interface that the signalling uses. */
  readonly address: string;
  /**
   * First and last UDP port; a call uses an even port for RTP and, unless RTCP is multiplexed, the next port for RTCP.
   */
  readonly ports: readonly [first: number, last: number];
  /** Sample rate of the frames of source and sink, regardless of the codec, Hz: 8000 or 16000. */
  readonly sampleRate: number;
  /** True if Opus may be negotiated, so that its library is loaded first. */
  readonly mayUseOpus?: boolean | undefined;
  /** Time without a packet after which the peer is reported as lost, ms; counted from the answer on. */
  readonly lossMs: number;
  /** True to accept RTP and RTCP only from the negotiated addresses. Default: false. */
  readonly strictRtp?: boolean | undefined;
  /** Accepted source addresses. Default: any. */
  readonly from?: AddressRule | undefined;
}

/** The result of the negotiation: the settings for sending and receiving. */
export interface StreamSettings {
  /** The remote hosts of the signalling. Default: unknown. */
  readonly signallingHosts?: readonly string[] | undefined;
  /** The remote address for RTP; symmetric RTP may learn another one from received packets. */
  readonly remote: SocketAddress;
  /** The remote address for RTCP; the same as `remote` if multiplexed (RFC 5761). */
  readonly remoteRtcp: SocketAddress;
  readonly rtcpMux: boolean;
  readonly codec: CodecName;
  /** Payload types of the codec, sent and expected. */
  readonly payloadType: { readonly send: number; readonly receive: number };
  /** Payload type of telephone-event (RFC 4733) and its clock, Hz; undefined if the peer accepts none. */
  readonly telephoneEvent: { readonly payloadType: number; readonly clockRate: number } | undefined;
  /** Length of our packets, ms of audio: 20 unless the peer requests another (a multiple of 10, 10 to 60). */
  readonly ptimeMs: number;
  /** SDES keys (RFC 4568); undefined for plain RTP. */
  readonly srtp: { readonly send: SrtpKeys; readonly receive: SrtpKeys } | undefined;
  /** Allowed directions (RFC 3264): the peer's hold makes it `recvonly` or `inactive`. */
  readonly direction: "sendrecv" | "sendonly" | "recvonly" | "inactive";
}

export type SrtpSuite =
  | "AES_CM_128_HMAC_SHA1_80"
  | "AES_CM_128_HMAC_SHA1_32"
  | "AES_256_CM_HMAC_SHA1_80"
  | "AES_256_CM_HMAC_SHA1_32";

/** Master key and salt of one direction (RFC 3711). */
export interface SrtpKeys {
  readonly suite: SrtpSuite;
  /** 16 or 32 bytes. */
  readonly key: Uint8Array;
  /** 14 bytes. */
  readonly salt: Uint8Array;
  /** Master key identifier, which precedes the tag of every packet if the peer requests it (RFC 3711 section 3.1). */
  readonly mki?: Uint8Array | undefined;
}

/** Receives the events of a session. No callback may throw. */
export interface MediaListener {
  /**
   * The call has started, and our first packet (perhaps silence, sent before the start) has been handed to the network.
   */
  sending(): void;
  /** The peer's first audio packet has arrived; called again for the first one after the answer. */
  receiving(): void;
  /** The first proof after the start that the peer receives our audio: `evidence()` has changed. */
  heardByPeer?(): void;
  /** Called after `heardByPeer` if no audio has arrived: the proof was another packet. */
  evidence?(): void;
  /** The peer pressed a key, reported by telephone-event; once per key. */
  digit(digit: string): void;
  /** No packet has arrived for `lossMs`; `detail` describes the silence. Called again after each further `lossMs`. */
  silent(detail: string): void;
  /** The audio cannot continue, for this reason. */
  lost(detail: string): void;
}

/** The evidence that the peer receives our audio. */
export interface StreamEvidence {
  /** Derived from packets that are authenticated by SRTP or come from the negotiated host or a signalling host. */
  readonly kind: HeardEvidence;
  /** True if audio has arrived from another host. */
  readonly fromOtherHost: boolean;
  /**
   * True if the peer was expected to send after `start`: its SDP was not always `recvonly` or `inactive` (RFC 3264
   * section 5.1).
   */
  readonly expected: boolean;
}

/** The evidence before the start. */
export const NO_STREAM_EVIDENCE: StreamEvidence = { kind: "none", fromOtherHost: false, expected: false };

/** The audio of one call. */
export interface MediaSession {
  /** The port for RTP; RTCP has the next one unless multiplexed. */
  readonly port: number;
  /** The codec of the latest negotiation; undefined before the first one. */
  readonly codec: CodecName | undefined;
  /**
   * Connects source and sink: one frame each, every 20 ms after `start`; the sink's frames begin with the peer's first
   * packet.
   * @param earlySink receives audio from before `start`; without it, that audio is dropped
   */
  connect(source: FrameSource, sink: FrameSink, earlySink?: FrameSink): void;
  /** Applies the settings of a negotiation, the first one or a later one (hold, re-INVITE). Before `start` it admits early media. */
  configure(settings: StreamSettings): void;
  /** Starts the audio when the call is answered, with silence if the source has none. Idempotent. */
  start(): void;
  /** Plays keys as telephone-events in place of the source, which waits. Resolves when all are sent. */
  sendDigits(digits: string): Promise<void>;
  statistics(): MediaStatistics;
  evidence(): StreamEvidence;
  /** Sends an RTCP BYE and releases the port. Idempotent. */
  close(): Promise<void>;
}
