import { CodedError } from "../../base/error.ts";
import type { RefusalScope, ReleaseCause } from "../../domain/calls/release-cause.ts";
import type { SipChoice } from "../../domain/calls/sip-choice.ts";
import type { LineCondition, LineNotice } from "../../domain/instances/line-flow.ts";
import type { CallerId } from "../../domain/numbers/caller-id.ts";
import type { Leg } from "./leg.ts";
import type { LineRecords } from "./line-records.ts";

/** The instance that a line belongs to. */
export interface InstanceRef {
  readonly id: string;
  /** The owner of the instance. */
  readonly userId: string;
  readonly name: string;
}

/**
 * Services of the core for a line, and the callbacks by which the line reports. The callbacks never throw; only
 * `linked` may reject. The owner of the instance reads each reason unchanged.
 */
export interface LineHost {
  /** Time until which this server may act for its instances; always the same object. */
  readonly deadlines: Deadlines;
  /** Encrypted at rest by the core; erased when the instance is unlinked, and when its deletion is finished. */
  readonly credentials: CredentialStore;
  /**
   * Records of the line besides its credentials. Encrypted and erased like those; a method first waits for an erasure
   * that is under way, so that a report of `unlinked` never deletes later data.
   */
  readonly records: LineRecords;
  /** The address at which people reach this server, without a trailing slash, base path included. */
  publicUrl(): string;
  /** Reports a new linking code. */
  code(code: LinkCode): void;
  /**
   * Reports that the number is linked. Resolves when the link and its credentials are stored: only then confirm the
   * link to the person. Waits while the storage is unavailable. Rejects, and stores nothing, if the instance is deleted
   * or its line closed; the adapter then forgets the device.
   */
  linked(phone: string | null, credentials?: Uint8Array): Promise<void>;
  /** Reports that the line can place calls. */
  online(): void;
  /**
   * Reports that the line cannot place calls for now; the adapter reconnects automatically.
   * @param lasting true if a person must fix the fault (see {@link LineHealth}). Default: false
   */
  offline(reason: string, lasting?: boolean): void;
  /**
   * Reports a notice for the owner of the number, in addition to the state of the line; undefined withdraws it. It is
   * shown and never stored. The core clears it once the line is found online, is linked or is unlinked.
   * @param reason a sentence; while no number is linked, it is shown as the reason for that
   */
  condition(condition: LineCondition | undefined, reason?: string): void;
  /** Reports that the phone's owner has unlinked the device: a new QR code is needed. Report a drop as `offline`. */
  unlinked(reason: string): void;
}

/**
 * Times until which a server may act without renewing its lease on the database again, in ms of `System.monotonic()`;
 * `Infinity` if there is no lease. Every renewal moves both, so read them each time. A process that resumes after a
 * pause finds them in the past: another server may already be carrying the calls of its instances.
 */
export interface Deadlines {
  /** Time after which no call is placed. */
  readonly dial: number;
  /** Time after which no audio and no INVITE is sent, retransmissions included; a hang-up still is. */
  readonly send: number;
}

/** The reason reported once {@link Deadlines} have passed. */
export const DEADLINE_PASSED = "the lease on the database was not renewed in time";

/** The deadlines of a server without a lease. */
export const NO_DEADLINES: Deadlines = { dial: Infinity, send: Infinity };

/** Credentials with which a line reconnects without a QR code; the core stores them encrypted. */
export interface CredentialStore {
  load(): Promise<Uint8Array | undefined>;
  /**
   * Replaces the credentials of a linked number, such as keys that rotate; the first credentials are part of `linked`.
   */
  save(credentials: Uint8Array): Promise<void>;
  erase(): Promise<void>;
}

/** A code to be scanned with the phone. */
export interface LinkCode {
  /** The text of the QR code. */
  readonly payload: string;
  /** ms since 1970-01-01 UTC; the next code appears about then. */
  readonly expiresAt: number;
  /** Number of the code within one linking attempt: 1, 2, 3 … */
  readonly sequence: number;
}

/** A code to be typed on the phone instead of scanning one. */
export interface PairingCode {
  readonly code: string;
  /** ms since 1970-01-01 UTC. */
  readonly expiresAt: number;
}

/**
 * The current state of a line at the network. A fault is `lasting` if it stays until a person fixes it: a wrong
 * password, an untrusted certificate, an unknown host name. Calls that wait for such a line fail at once, with the
 * reason as their detail. Silence, overload and a network outage pass without a fix, so calls keep waiting.
 */
export type LineHealth =
  | { readonly state: "online"; readonly notice?: LineNotice | undefined }
  | { readonly state: "offline"; readonly reason: string; readonly lasting?: boolean };

/** One linked number. */
export interface Line {
  /**
   * Starts linking, or continues it; the host receives the codes, then `linked`. A linked line with a lasting fault
   * tries again, if it does not do so automatically. Idempotent.
   */
  link(): Promise<void>;
  /**
   * A code that links the line when it is typed on the phone with this number; starts linking if necessary. Omitted if
   * the network has no such codes. Rejects if the network refuses: with a {@link NetworkSilent} if the owner of the
   * number may see the message.
   * @param phone E.164
   */
  readonly pairingCode?: ((phone: string, signal: AbortSignal) => Promise<PairingCode>) | undefined;
  /** Asks the network for the state of the line. Never throws and never uses a cache. */
  probe(): Promise<LineHealth>;
  /**
   * Places one call. Resolves with the leg as soon as the call can be hung up; its progress arrives in `leg.events`.
   * Rejects only with a {@link DialError}. An aborted signal hangs up.
   */
  dial(to: string, options: DialOptions, signal: AbortSignal): Promise<Leg>;
  /** Unlinks the device at the network; resolves when that has succeeded or has turned out to be impossible. */
  unlink(): Promise<void>;
  /** Disconnects but stays linked. */
  close(): Promise<void>;
}

/** Options of a call, besides its number. */
export interface DialOptions {
  readonly callId: string;
  /** Maximum time that the callee's phone may ring, ms; then the core hangs up. */
  readonly ringTimeoutMs: number;
  /** The call's choices for its INVITE, within `capabilities.sip`. */
  readonly sip?: SipChoice | undefined;
  /** The caller id, within `capabilities.callerIds`. The network chooses whatever it leaves out. */
  readonly from?: CallerId | undefined;
  /**
   * True if the network may call a number (E.164) at this moment. The network checks before it forwards the call to
   * another number, for example after a redirection or a transfer. A network that looks the callee up first also asks
   * right before the phone rings, with the number that it has found. False for numbers that the server or the call's
   * token may not call, and for numbers on a do-not-call record; the core then knows the reason, so any DialError will
   * do. Resolves within seconds and never rejects. Default: any number may be called.
   */
  readonly mayCall?: ((phoneNumber: string) => Promise<boolean>) | undefined;
}

/**
 * Thrown if the network did not start the call. With `line_lost` the call waits for the line again, within the queue
 * timeout; any other cause ends it.
 */
export class DialError extends CodedError {
  override readonly name = "DialError";
  readonly code = "dial_failed";
  readonly release: ReleaseCause;
  /** With `line_lost`: delay before the line, which is full or has been asked to wait, accepts calls again, ms. */
  readonly retryAfterMs: number | undefined;
  /** With `rejected_by_network`: what the refusal applies to. Default: the calling number. */
  readonly refusal: RefusalScope | undefined;
  constructor(
    release: ReleaseCause,
    detail: string,
    options: { readonly retryAfterMs?: number | undefined; readonly refusal?: RefusalScope | undefined } = {},
  ) {
    super(detail);
    this.release = release;
    this.retryAfterMs = options.retryAfterMs;
    this.refusal = options.refusal;
  }
}

/** Thrown if the network did not respond in time. The owner of the instance may see the message. */
export class NetworkSilent extends CodedError {
  override readonly name = "NetworkSilent";
  readonly code = "network_silent";
}
