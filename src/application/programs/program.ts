import type { Call } from "../../domain/call.ts";
import type { FailedReason } from "../../domain/outcome.ts";
import type { Context } from "../context.ts";
import { converse } from "./converse.ts";
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

/** What a call of one type does with its leg. */
export interface Program {
  /** Checked before anybody's phone rings. @throws {ProgramFailed} */
  check?(context: Context, call: Call): void;
  /**
   * The message as mono samples at the leg's rate, in pieces as they become ready; runs while the phone rings.
   * @throws {ProgramFailed}
   */
  message(context: Context, call: Call, sampleRate: number, signal: AbortSignal): AsyncIterable<Int16Array>;
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
