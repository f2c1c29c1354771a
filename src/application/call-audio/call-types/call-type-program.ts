import type { Playout } from "../../../audio/playout/playout.ts";
import { CodedError } from "../../../base/error.ts";
import type { TurnMetrics } from "../../../domain/agents/turn-metrics.ts";
import type { CallOf, CallResult, CallType } from "../../../domain/calls/call.ts";
import type { FlowRules } from "../../../domain/calls/call-flow.ts";
import type { CallSignal } from "../../../domain/calls/call-signal.ts";
import type { FailedReason } from "../../../domain/calls/outcome.ts";
import type { Leg, Telephony } from "../../../ports/telephony.ts";
import type { Context } from "../../context.ts";
import type { FindingsAtEnd } from "../agents/agent-result.ts";
import type { CallTap } from "../call-tap.ts";
import type { PreparedMessage } from "./prepared-message.ts";

/** Everything that a program may use. */
export type ProgramContext = Pick<
  Context,
  | "access"
  | "agent"
  | "agentTools"
  | "agentVoiceId"
  | "callLimits"
  | "decodedFiles"
  | "decoder"
  | "decoderTurns"
  | "events"
  | "lease"
  | "log"
  | "policy"
  | "purgeClock"
  | "shutdownSignal"
  | "speech"
  | "speechScheduler"
  | "storage"
  | "streamPreview"
  | "streams"
  | "system"
  | "timings"
  | "transcriptSpeakers"
  | "transcription"
  | "voiceActivity"
>;

/** Thrown by a program that cannot carry out its call; the call fails with this reason. */
export class ProgramFailed extends CodedError {
  override readonly name = "ProgramFailed";
  readonly code = "program_failed";
  readonly reason: FailedReason;
  constructor(reason: FailedReason, detail: string, options?: { cause: unknown }) {
    super(detail, options);
    this.reason = reason;
  }
}

/** Dependencies of a live program. */
export interface LiveCallMedia {
  readonly leg: Leg;
  /** The network of the leg. */
  readonly network: Telephony;
  /** Plays to the callee; it never ends on its own. */
  readonly playout: Playout;
  /** Analysis of the callee's latest frame. */
  readonly callee: {
    /** True if it contains speech, and no key or beep. */
    readonly isSpeech: boolean;
    /** True for voiced frames, false for hang-over. */
    readonly isVoiced: boolean;
    /** Hang-over of speech: time reported as speech after the last voiced sound, ms. */
    readonly hangOverMs: number;
  };
  /** Reports words of the callee, which may be a machine's. */
  readonly words: (text: string) => void;
  /** Sends a signal to the session of the call. */
  readonly post: (signal: CallSignal) => void;
}

/** Plays one fixed message to its end. */
export interface MessageProgram<Type extends CallType = CallType> {
  readonly kind: "message";
  /**
   * Creates the message, which is prepared before dialling.
   * @param expectedRate the rate that its leg will probably have, Hz
   */
  message(context: ProgramContext, call: CallOf<Type>, expectedRate: number): PreparedMessage;
}

/** Carries a live conversation. */
export interface LiveProgram<Type extends CallType = CallType> {
  readonly kind: "live";
  /**
   * True if an outside client carries the audio, so that the call waits for the client and cannot continue without one.
   */
  readonly isStreamed: boolean;
  /** Reason for the end of the call once the program's audio has been played. */
  readonly playedReason: FlowRules["playedReason"];
  /** Runs before dialling. @param network undefined if it is no longer mounted @throws {ProgramFailed} */
  check(context: ProgramContext, call: CallOf<Type>, network: Telephony | undefined): void | Promise<void>;
  /**
   * Runs after {@link check} and before dialling: resolves with a replacement for {@link connect}; undefined if there
   * is none. The signal is aborted when the call has ended.
   * @throws {ProgramFailed} the callee is not dialled
   */
  prepare?(
    context: ProgramContext,
    call: CallOf<Type>,
    network: Telephony,
    signal: AbortSignal,
  ): Promise<LiveConnection | undefined>;
  /** Takes over the leg's audio while the phone rings. */
  connect(context: ProgramContext, call: CallOf<Type>, media: LiveCallMedia): LiveParts;
}

/** Takes over the leg's audio while the phone rings. */
export type LiveConnection = (media: LiveCallMedia) => LiveParts;

/** Parts that a live program adds to its call. */
export interface LiveParts {
  /** Taps that follow the audio. */
  readonly taps: readonly CallTap[];
  /** Result reported on the call so far; undefined if none. */
  result?(): CallResult | undefined;
  /** Result according to the call's schema, after the call has ended; undefined if none was requested. */
  findings?(): FindingsAtEnd | undefined;
  /** Stays silent until {@link leaveMessage}, because a machine has answered. */
  awaitVoicemail?(): void;
  /** Called when the machine records. */
  leaveMessage?(): void;
  /** The turns of an agent so far. */
  turns?(): readonly TurnMetrics[];
}

/** The behaviour of calls of one type on their legs. */
export type Program<Type extends CallType = CallType> = MessageProgram<Type> | LiveProgram<Type>;
