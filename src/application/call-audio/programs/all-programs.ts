import type { Call, CallType } from "../../../domain/calls/call.ts";
import { converse } from "./converse.ts";
import { play } from "./play.ts";
import type { Program } from "./program.ts";
import { speak } from "./speak.ts";
import { stream } from "./stream.ts";

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
