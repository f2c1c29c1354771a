import { CodedError } from "../../../../src/base/error.ts";
import type { FrameSink, FrameSource } from "../../../../src/ports/media.ts";
import type { Deadlines, HeardEvidence, MediaStatistics } from "../../../../src/ports/telephony.ts";
import type { AddressRule } from "../transport/address-rule.ts";
import type { SocketAddress } from "../transport/transport.ts";

export type { MediaStatistics };

/**
 * The audio of calls, apart from their signalling: sockets, codecs, keys, clock. Everything here is plain data and
 * callbacks without answers, so that an engine may live in this thread or in a worker.
 */
export interface MediaEngine {
  /**
   * Takes a port.
   * @param deadlines nothing but a goodbye is sent after `send`; default: without end
   * @throws {PortsExhausted} every port of the range is in use; the message names the range
   */
  open(options: MediaOptions, listener: MediaListener, deadlines?: SendDeadline): Promise<MediaSession>;
  /** Ends every session; twice is fine. */
  close(): Promise<void>;
}

/** Until when packets may be sent. */
export type SendDeadline = Pick<Deadlines, "send">;

/** Every port of the range is in use. */
export class PortsExhausted extends CodedError {
  override readonly name = "PortsExhausted";
  readonly code = "ports_exhausted";
}

export interface MediaOptions {
  /** Address to bind: of the family, and on the interface, that the signalling uses. */
  readonly address: string;
  /** First and last UDP port; a call takes an even one for RTP and, unless RTCP is multiplexed, the next for RTCP. */
  readonly ports: readonly [first: number, last: number];
  /** Hz of the frames of source and sink, whatever the codec: 8000 or 16000. */
  readonly sampleRate: number;
  /** Opus may be negotiated: its library is loaded before the session is there. */
  readonly mayUseOpus?: boolean | undefined;
  /** No inbound RTP for so long after the answer is reported as lost, ms. */
  readonly lossMs: number;
  /** Audio and reports count only from the addresses that were negotiated. Default: false. */
  readonly strictRtp?: boolean | undefined;
  /** The addresses that packets are taken from. Default: any. */
  readonly from?: AddressRule | undefined;
}

/** What the negotiation has settled; all that a session needs to send and to understand. */
export interface StreamSettings {
  /** Where to send; symmetric RTP may learn another address from what arrives. */
  readonly remote: SocketAddress;
  /** Where RTCP goes; the same as `remote` when multiplexed (RFC 5761). */
  readonly remoteRtcp: SocketAddress;
  readonly rtcpMux: boolean;
  readonly codec: "PCMU" | "PCMA" | "G722" | "opus";
  /** Payload type of the codec, as we send it, and as we expect it. */
  readonly payloadType: { readonly send: number; readonly receive: number };
  /** Payload type of telephone-event (RFC 4733) and its clock, Hz; undefined: the peer takes none. */
  readonly telephoneEvent: { readonly payloadType: number; readonly clockRate: number } | undefined;
  /** ms of audio in a packet: 20 unless the peer wants another (a multiple of 10, 10 to 60). */
  readonly ptimeMs: number;
  /** SDES keys (RFC 4568); undefined: plain RTP. */
  readonly srtp: { readonly send: SrtpKeys; readonly receive: SrtpKeys } | undefined;
  /** What we may do (RFC 3264): the peer's hold makes it `recvonly` or `inactive`. */
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
  /** Stands before the tag of every packet where the peer wants to tell keys apart (RFC 3711 section 3.1). */
  readonly mki?: Uint8Array | undefined;
}

/** What a session notices. None may throw. */
export interface MediaListener {
  /** The first packet has been handed to the network after `start`. */
  sending(): void;
  /** The first packet of the peer's audio has come; once more for the first after the answer. */
  receiving(): void;
  /** After the start, something other than audio has shown for the first time that the peer receives ours. */
  evidence?(): void;
  /** A key, once, by telephone-event. */
  digit(digit: string): void;
  /** Nothing has come for `lossMs`; a sentence. */
  lost(detail: string): void;
}

/** What has come of the peer. */
export interface StreamEvidence {
  readonly kind: HeardEvidence;
  /** The peer was to send since `start`: its SDP was not always `recvonly` or `inactive` (RFC 3264 section 5.1). */
  readonly expected: boolean;
}

/** Before the start. */
export const NOTHING_CAME: StreamEvidence = { kind: "none", expected: false };

/** The audio of one call. */
export interface MediaSession {
  /** The port for RTP; RTCP has the next one unless multiplexed. */
  readonly port: number;
  /**
   * Where frames come from and go to. From `start` on, fifty times a second; the sink's begin with the first packet of the
   * peer. @param early takes what comes before `start`; without it that is dropped
   */
  connect(source: FrameSource, sink: FrameSink, early?: FrameSink): void;
  /** What was negotiated, now or anew (hold, re-INVITE). Before `start` it lets early media in. */
  configure(settings: StreamSettings): void;
  /** The call is answered: audio runs, silence where there is none. Idempotent. */
  start(): void;
  /** Plays keys as telephone-events in place of the source, which waits. Resolves when all are sent. */
  sendDigits(digits: string): Promise<void>;
  statistics(): MediaStatistics;
  evidence(): StreamEvidence;
  /** Sends an RTCP BYE and releases the port. Idempotent. */
  close(): Promise<void>;
}
