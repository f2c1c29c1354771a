import type { Playout } from "../../../audio/playout.ts";
import { CodedError } from "../../../base/error.ts";
import type { Call, CallOf, CallType } from "../../../domain/call.ts";
import type { FailedReason } from "../../../domain/outcome.ts";
import type { Leg } from "../../../ports/telephony.ts";
import type { Context } from "../../context.ts";
import type { CallTap } from "../call-tap.ts";
import { converse } from "./converse.ts";
import type { Message } from "./message.ts";
import { play } from "./play.ts";
import { speak } from "./speak.ts";
import { stream } from "./stream.ts";

/** Thrown by a program that cannot carry its call; the call fails with this reason. */
export class ProgramFailed extends CodedError {
  override readonly name = "ProgramFailed";
  readonly code = "program_failed";
  readonly reason: FailedReason;
  constructor(reason: FailedReason, detail: string, options?: { cause: unknown }) {
    super(detail, options);
    this.reason = reason;
  }
}

/** What a live program works with. */
export interface LiveMedia {
  readonly leg: Leg;
  /** Plays to the callee; it never ends by itself. */
  readonly playout: Playout;
}

/** Plays one fixed message to its end. */
export interface MessageProgram<Type extends CallType = CallType> {
  readonly kind: "message";
  /**
   * Creates the message, which is prepared before anybody is dialled.
   * @param usualRate the rate that its leg will probably have, Hz
   */
  message(context: Context, call: CallOf<Type>, usualRate: number): Message;
}

/** Carries a live conversation. */
export interface LiveProgram<Type extends CallType = CallType> {
  readonly kind: "live";
  /** Whether an outside client carries the audio, so that the call waits for it and cannot go on without it. */
  readonly streamed: boolean;
  /** Runs before anybody is dialled. @throws {ProgramFailed} */
  check(context: Context, call: CallOf<Type>): void;
  /** Takes over the leg's audio while the phone rings; returns the taps that follow it. */
  connect(context: Context, call: CallOf<Type>, media: LiveMedia): readonly CallTap[];
}

/** What a call of one type does with its leg. */
export type Program<Type extends CallType = CallType> = MessageProgram<Type> | LiveProgram<Type>;

/** The program of a call. */
export function programOf(call: Call): Program {
  return PROGRAMS[call.message.type];
}

const PROGRAMS: { readonly [Type in CallType]: Program<Type> } = {
  FIXED_TTS: { kind: "message", message: speak },
  FIXED_AUDIO: { kind: "message", message: play },
  DYNAMIC_STREAM: stream,
  DYNAMIC_AGENT: converse,
};
