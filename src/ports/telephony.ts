import { CodedError } from "../base/error.ts";
import type { CallerId, CallerIdRule } from "../domain/caller-id.ts";
import type { EventData } from "../domain/events.ts";
import type { MediaStatistics } from "../domain/media-statistics.ts";
import type { HeardEvidence } from "../domain/outcome.ts";
import type { ReleaseCause } from "../domain/release-cause.ts";
import type { FrameSink, FrameSource } from "./media.ts";

export type { CallerId, CallerIdRule, HeardEvidence, MediaStatistics, ReleaseCause };

/**
 * A telephone network: WhatsApp, a SIP trunk, the simulator.
 *
 * An adapter translates. It holds no policy, keeps no queue and retries no call; it knows how to link a number,
 * how to check whether the line is alive, and how to place one call and carry its audio. It must not assume that
 * the core is gentle: every method may be called twice, in any state, and while another one is under way.
 */
export interface Telephony {
  /** The provider's name as instances store it: `simulator`, `sip/<trunk>`, `whatsapp`. */
  readonly name: string;
  readonly capabilities: TelephonyCapabilities;
  /**
   * Whose instances may call over it: user ids, everybody (`*`), or the server's first user (`first`: the oldest one in
   * the account store). Calls cost money, so a network that does should not be open to everybody by default. For anybody
   * else it does not exist. Default: `*`.
   */
  readonly users?: readonly string[] | "*" | "first" | undefined;
  /**
   * Opens the line of one instance. With stored credentials it connects at once, without a QR code; without any
   * it waits for `link()`. If the operator links the numbers, it needs neither and connects at once. Resolves when
   * the line object exists, not when it is online. The signal is about opening only: an open line ends by `close()`. A
   * line that arrives after the signal was aborted is closed.
   */
  open(instance: InstanceRef, host: LineHost, signal: AbortSignal): Promise<Line>;
  /**
   * Why this network never calls a number, as a sentence for the caller; undefined if it may be called. Asked
   * before a call is created, and again before it is dialled. Left out if every number may be called.
   * @param phoneNumber E.164
   */
  refuses?(phoneNumber: string): Promise<string | undefined>;
  /** Forget what is kept of these calls (recordings); called when their retention is over, or on request. */
  forget?(callIds: readonly string[]): Promise<void>;
  /** Closes everything; lines are closed before. */
  close(): Promise<void>;
}

/** Differences that the core must know. */
export interface TelephonyCapabilities {
  /** How pressed keys arrive, unless a leg has its own `dtmf`: as leg events (RFC 4733 and the like), or only as tones in the audio. */
  readonly dtmf: "event" | "in-band";
  /** Inbound audio must come on every answered leg; none within the media timeout means that media failed. */
  readonly inboundAudioCertain: boolean;
  /**
   * How an instance gets its number: by a code that its owner scans, or from the operator's configuration. Then it needs
   * no code and no credentials: its line connects as soon as it is open, is linked the first time it is online (or when
   * it reports `linked` itself), and never reports `unlinked`. Default: `code`.
   */
  readonly linking?: "code" | "operator" | undefined;
  /**
   * Rate that most legs have, Hz. Audio files are decoded at it before anybody is dialled, and once more for a leg with
   * another rate. Default: 8000.
   */
  readonly sampleRate?: number | undefined;
  /**
   * The numbers that an instance or a call may come from (`DialOptions.from`); an empty list leaves the choice of a name
   * and of being withheld. Left out: nothing of the caller can be chosen.
   */
  readonly callerIds?: CallerIdRule | undefined;
}

/** The instance that a line belongs to. */
export interface InstanceRef {
  readonly id: string;
  readonly name: string;
}

/**
 * What the core offers to a line, and how a line reports what happens to it. The reports never throw; only `linked` may
 * reject. A reason is a sentence for the owner of the instance, who reads it as it is.
 */
export interface LineHost {
  /** Until when this server may act for its instances; the same object all the time. */
  readonly deadlines: Deadlines;
  /** Encrypted at rest by the core; erased when the instance is unlinked, and when its deletion is finished. */
  readonly credentials: CredentialStore;
  /** The address at which people reach this server, without a trailing slash, base path included. */
  publicUrl(): string;
  /** A new linking code is valid from now on. */
  code(code: LinkCode): void;
  /**
   * The number is linked. Stores that together with the credentials that bring it back, and resolves when both are
   * stored: confirm the link to a person only then. Waits for a storage that is down. Rejects if the instance is deleted
   * or its line closed; nothing is stored then, and the adapter forgets the device.
   */
  linked(phone: string | null, credentials?: Uint8Array): Promise<void>;
  /** The line can place calls. */
  online(): void;
  /**
   * The line cannot place calls for now; the adapter goes on trying by itself.
   * @param lasting the fault will not pass by itself, see {@link LineHealth}. Default: false
   */
  offline(reason: string, lasting?: boolean): void;
  /** The phone's owner has unlinked the device: a new QR code is needed. Never report a mere drop as this. */
  unlinked(reason: string): void;
}

/**
 * Until when a server may act without another renewal of its lease on the database, by `System.monotonic()`, ms;
 * `Infinity` if there is no lease. Every renewal moves both, so read them each time. A process that was stopped and goes
 * on finds them in the past: another server may be carrying the calls of its instances by then.
 */
export interface Deadlines {
  /** No call is placed later. */
  readonly dial: number;
  /** No audio and no INVITE is sent later, repetitions included; a hang-up still is. */
  readonly send: number;
}

/** The reason that is given once {@link Deadlines} have passed. */
export const DEADLINE_PASSED = "the lease on the database was not renewed in time";

/** A server without a lease. */
export const NO_DEADLINES: Deadlines = { dial: Infinity, send: Infinity };

/** What a line needs to come back without a QR code; the core keeps it encrypted. */
export interface CredentialStore {
  load(): Promise<Uint8Array | undefined>;
  /** Replaces the credentials of a linked number, such as keys that rotate; the first ones come with `linked`. */
  save(credentials: Uint8Array): Promise<void>;
  erase(): Promise<void>;
}

/** A code to be scanned with the phone. */
export interface LinkCode {
  /** The text in the QR code. */
  readonly payload: string;
  /** ms since 1970-01-01 UTC; the next code appears about then. */
  readonly expiresAt: number;
  /** 1, 2, 3 … within one linking attempt. */
  readonly sequence: number;
}

/**
 * The state of a line at the network, now. A fault is `lasting` if it will not pass until somebody fixes it: a wrong password,
 * an untrusted certificate, a name that does not exist. Calls that wait for such a line fail at once, with the reason as
 * their detail. Silence, overload and a network that is down pass by themselves: calls go on waiting.
 */
export type LineHealth =
  | { readonly state: "online" }
  | { readonly state: "offline"; readonly reason: string; readonly lasting?: boolean };

/** One linked number. */
export interface Line {
  /** Starts linking, or goes on with it; codes and `linked` arrive at the host. Idempotent. */
  link(): Promise<void>;
  /** Asks the network, now. Never throws, never answers from memory. */
  probe(): Promise<LineHealth>;
  /**
   * Places one call. Resolves with the leg as soon as there is something to hang up; what becomes of it arrives
   * in `leg.events`. Rejects only with a {@link DialError}. An aborted signal hangs up.
   */
  dial(to: string, options: DialOptions, signal: AbortSignal): Promise<Leg>;
  /** Forgets the device at the network; resolves when that is done or cannot be done. */
  unlink(): Promise<void>;
  /** Disconnects but stays linked. */
  close(): Promise<void>;
}

/** Options of a call, besides its number. */
export interface DialOptions {
  readonly callId: string;
  /** How long the callee's phone may ring, ms; the core hangs up after it. */
  readonly ringTimeoutMs: number;
  /** The caller, within `capabilities.callerIds`; what it leaves out, and a call without it, is the network's own. */
  readonly from?: CallerId | undefined;
  /**
   * Whether the network may lead the call on to another number, in E.164, such as by a redirection: false for numbers
   * that the server or the call's token does not call. Left out: to any number.
   */
  readonly mayCall?: ((phoneNumber: string) => boolean) | undefined;
}

/**
 * The network would not even start the call. With `line_lost` the call waits for the line again, within the queue
 * timeout; any other release ends it.
 */
export class DialError extends CodedError {
  override readonly name = "DialError";
  readonly code = "dial_failed";
  readonly release: ReleaseCause;
  /** With `line_lost`: how long the line takes no call although it works (it is full, or was asked to wait), ms. */
  readonly retryAfterMs: number | undefined;
  constructor(release: ReleaseCause, detail: string, options: { readonly retryAfterMs?: number | undefined } = {}) {
    super(detail);
    this.release = release;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The network did not respond in time; the message may be shown to the owner of the instance. */
export class NetworkSilent extends CodedError {
  override readonly name = "NetworkSilent";
  readonly code = "network_silent";
}

/** One call on the network. The leg owns the clock of its audio. */
export interface Leg {
  /** Hz, mono, both ways. */
  readonly sampleRate: number;
  /** Length of one frame, ms. */
  readonly frameMs: number;
  /** What happens, in order; `ended` comes last and exactly once. To be iterated by one reader. */
  readonly events: AsyncIterable<LegEvent>;
  /**
   * Gives the leg its audio. Called before the answer. From the answer on the leg pulls one frame per `frameMs`
   * from the source and pushes every received frame into the sink, both synchronously, without allocation. Nothing is
   * pushed before the peer's first audio has come: a sink that receives nothing is how one-way audio is noticed.
   */
  connectMedia(source: FrameSource, sink: FrameSink): void;
  /**
   * How pressed keys arrive on this leg, if that is known only after the answer; read with each frame. Keys that come as
   * tones and as events as well count once. Default: as in the capabilities.
   */
  readonly dtmf?: TelephonyCapabilities["dtmf"] | undefined;
  /** Sends keys to the far end: 0-9 * # A-D. */
  sendDtmf?(digits: string): Promise<void>;
  /**
   * How the audio went, as far as the network counts; null before there was any. Asked for once, at the end of the call:
   * after `ended` was emitted, or just before the hang-up. It answers at once and does not throw.
   */
  statistics?(): MediaStatistics | null;
  /**
   * What shows by now that the peer receives our audio. It is asked whenever something happens to the call, also after
   * `ended`; it answers at once and does not throw. Without it the audio that came is the evidence, and none is required.
   */
  evidence?(): MediaEvidence;
  /** Idempotent; resolves when the leg is gone. */
  hangUp(): Promise<void>;
}

/** What shows that the peer of a leg receives our audio. */
export interface MediaEvidence {
  readonly kind: HeardEvidence;
  /** A call that ends without evidence has failed: the peer was to send something. */
  readonly required: boolean;
}

/** What happens to a call on the network. */
export type LegEvent =
  /** The peer has been asked (INVITE or offer sent). */
  | { readonly type: "placed" }
  /** The peer reports that its phone rings. */
  | { readonly type: "alerting" }
  /** The peer sends audio before the answer: an announcement, or a ringing tone. */
  | { readonly type: "early_media" }
  /** The peer has accepted. */
  | { readonly type: "answered" }
  /**
   * Our media path is up: negotiated, keyed, first frame handed to the network; or nothing is missing but that, because the
   * peer has answered on hold.
   */
  | { readonly type: "connected" }
  /** After the answer, something other than audio is evidence; a call that waits for that alone ends now. */
  | { readonly type: "evidence" }
  | { readonly type: "dtmf"; readonly digit: string }
  | { readonly type: "media_lost"; readonly detail: string }
  /**
   * For the timeline only: the peer holds us or lets go, a message of the signalling went by (secrets masked), the
   * call takes this way into the network, or the peer named an address for its audio that nothing is sent to. A held
   * source is not pulled, so what it plays waits.
   */
  | {
      readonly type: "noted";
      readonly event: "held" | "resumed" | "signalling" | "route" | "media.address_refused";
      readonly data: EventData;
    }
  | { readonly type: "ended"; readonly cause: ReleaseCause; readonly detail: string | null };
