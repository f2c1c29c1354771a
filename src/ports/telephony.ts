import type { DialProgress } from "../domain/calls/dial-progress.ts";
import type { MediaStatistics } from "../domain/calls/media-statistics.ts";
import type { HeardEvidence } from "../domain/calls/outcome.ts";
import type { RefusalScope, ReleaseCause } from "../domain/calls/release-cause.ts";
import type { SipChoice, SipRule } from "../domain/calls/sip-choice.ts";
import type { NumberProtection } from "../domain/dialling-rules/number-protection.ts";
import type { LineCondition, LineNotice } from "../domain/instances/line-flow.ts";
import type { CallerId, CallerIdRule } from "../domain/numbers/caller-id.ts";
import type { KeyDelivery } from "./telephony/leg.ts";
import type { InstanceRef, Line, LineHost } from "./telephony/line.ts";

export type { KeyDelivery, Leg, LegEvent, MediaEvidence, TransferOutcome } from "./telephony/leg.ts";
export type {
  CredentialStore,
  Deadlines,
  DialOptions,
  InstanceRef,
  Line,
  LineHealth,
  LineHost,
  LinkCode,
  PairingCode,
} from "./telephony/line.ts";
export { DEADLINE_PASSED, DialError, NetworkSilent, NO_DEADLINES } from "./telephony/line.ts";
export type { LineRecords } from "./telephony/line-records.ts";
export type {
  CallerId,
  CallerIdRule,
  DialProgress,
  HeardEvidence,
  LineCondition,
  LineNotice,
  MediaStatistics,
  RefusalScope,
  ReleaseCause,
  SipChoice,
  SipRule,
};

/**
 * A telephone network: WhatsApp, a SIP trunk, the simulator.
 *
 * An adapter only translates. It holds no policy, keeps no queue and retries no call; it links a number, checks whether
 * the line is alive, places one call and carries its audio. It must not assume that the core is careful: every method
 * may be called twice, in any state, and while another one is under way.
 */
export interface Telephony {
  /** The provider's name as instances store it: `simulator`, `sip/<trunk>`, `whatsapp`. */
  readonly name: string;
  readonly capabilities: TelephonyCapabilities;
  /**
   * The users whose instances may call over it: user ids, everyone (`*`), or the server's first user (`first`: the
   * oldest in the account store). For everyone else the network does not exist. A network whose calls cost money should
   * not be open to everyone by default. Default: `*`.
   */
  readonly users?: readonly string[] | "*" | "first" | undefined;
  /**
   * Opens the line of one instance. With stored credentials it connects at once, without a QR code; without any it
   * waits for `link()`. If the operator links the numbers, it needs neither and connects at once. Resolves when the
   * line object exists, not when it is online. The signal only aborts opening; `close()` ends an open line. The core
   * closes a line that it receives after the abort.
   */
  open(instance: InstanceRef, host: LineHost, signal: AbortSignal): Promise<Line>;
  /**
   * Reason why this network will never call a number, as a sentence for the caller; undefined if it may be called.
   * Called before a call is created, and again before it is dialled. Omitted if every number may be called.
   * @param phoneNumber E.164
   */
  refuses?(phoneNumber: string): Promise<string | undefined>;
  /** The threads that carry the audio of its calls, for operators. Omitted if there is nothing to report. */
  audioThreads?(): readonly AudioThread[];
  /** Deletes stored data of these calls, such as recordings. Called at the end of their retention, or on request. */
  forget?(callIds: readonly string[]): Promise<void>;
  /** Closes everything; the core closes the lines first. */
  close(): Promise<void>;
}

/** State of a thread that carries the audio of calls. */
export interface AudioThread {
  /** Number of the thread, from 1; 0 is the application's thread. */
  readonly number: number;
  readonly calls: number;
  /** Lateness that nine of ten frames of the last second did not exceed, ms. */
  readonly latenessMs: number;
  /** True if its audio has been late for some time, so that it takes no new calls. */
  readonly isOverloaded: boolean;
}

/** Differences between networks that the core must know about. */
export interface TelephonyCapabilities {
  /** Form in which pressed keys arrive, unless a leg has its own `dtmf`. */
  readonly dtmf: KeyDelivery;
  /** True if every answered leg has inbound audio, so that its absence within the media timeout means failed media. */
  readonly inboundAudioCertain: boolean;
  /**
   * False if the callee hears us but sends no audio back, so that agents, streams, key detection and machine detection
   * get no input; the option `oneWayCalls` decides about such calls. Default: true.
   */
  readonly receivesAudio?: boolean | undefined;
  /**
   * Maximum time for setting up a leg's media path after the answer, ms, if longer than the server's `mediaSetupMs`.
   */
  readonly mediaSetupMs?: number | undefined;
  /**
   * Source of an instance's number: a code that its owner scans, or the operator's configuration. With `operator` it
   * needs no code and no credentials: its line connects as soon as it is open, is linked the first time it is online
   * (or when it reports `linked` itself), and never reports `unlinked`. Default: `code`.
   */
  readonly linking?: "code" | "operator" | undefined;
  /**
   * Sample rate of most legs, Hz. Audio files are decoded at this rate before the call is dialled, and again for a leg
   * with another rate. Default: 8000.
   */
  readonly sampleRate?: number | undefined;
  /**
   * The allowed caller numbers of an instance or a call (`DialOptions.from`); an empty list still allows a name
   * and withholding. Undefined: the caller cannot be chosen.
   */
  readonly callerIds?: CallerIdRule | undefined;
  /** The header fields and URIs that a call may choose (`DialOptions.sip`). Default: none. */
  readonly sip?: SipRule | undefined;
  /** Number of calls that one instance may carry at the same time: a whole number from 1, or `Infinity`. Default: 1. */
  readonly lines?: number | undefined;
  /** Protection of its numbers unless the operator's queue policy chooses otherwise, field by field. Default: none. */
  readonly protection?: NumberProtection | undefined;
  /** True if legs can transfer an answered call to another number (`Leg.transfer`). Default: false. */
  readonly transfers?: boolean | undefined;
}
