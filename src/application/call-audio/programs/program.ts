import type { Playout, PlayoutTap } from "../../../audio/playout.ts";
import type { Call } from "../../../domain/call.ts";
import type { FailedReason } from "../../../domain/outcome.ts";
import type { FrameSink } from "../../../ports/media.ts";
import type { Leg } from "../../../ports/telephony.ts";
import type { Context } from "../../context.ts";
import { converse } from "./converse.ts";
import type { Message } from "./message.ts";
import { play } from "./play.ts";
import { speak } from "./speak.ts";
import { stream } from "./stream.ts";

/** Thrown by a program that cannot do its call; ends the call with this reason. */
export class ProgramFailed extends Error {
  override readonly name = "ProgramFailed";
  readonly reason: FailedReason;
  constructor(reason: FailedReason, detail: string, options?: { cause: unknown }) {
    super(detail, options);
    this.reason = reason;
  }
}

/** What a live program works with. */
export interface LiveMedia {
  readonly leg: Leg;
  /** What it plays to the callee; it never ends by itself. */
  readonly playout: Playout;
}

/** How a live program listens. */
export interface CallTap {
  /** Gets the callee's frames. */
  readonly callee: FrameSink;
  /** Is told what the callee hears. */
  readonly sent: PlayoutTap;
  /** The call ends: resolves, within a second, when what was said last has been told. */
  lastWords?(): Promise<void>;
}

/** What a call of one type does with its leg: a message to be played to its end, or something live. */
export interface Program {
  /** Checked before anybody's phone rings. @throws {ProgramFailed} */
  check?(context: Context, call: Call): void;
  /**
   * For a fixed message: the message, to be prepared before anybody is dialled.
   * @param usualRate the rate that its leg will probably have, Hz
   */
  message?(context: Context, call: Call, usualRate: number): Message;
  /** For a live conversation: takes the leg's audio over while the phone rings, and answers how it listens. */
  live?(context: Context, call: Call, media: LiveMedia): CallTap | undefined;
}

/** The program of a call. */
export function programOf(call: Call): Program {
  return PROGRAMS[call.message.type];
}

const PROGRAMS: Readonly<Record<Call["message"]["type"], Program>> = {
  FIXED_TTS: { message: speak },
  FIXED_AUDIO: { message: play },
  DYNAMIC_STREAM: stream,
  DYNAMIC_AGENT: converse,
};
