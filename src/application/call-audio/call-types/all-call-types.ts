import type { Call, CallType } from "../../../domain/calls/call.ts";
import type { Program } from "./call-type-program.ts";
import { converse } from "./dynamic-agent.ts";
import { stream } from "./dynamic-stream.ts";
import { play } from "./fixed-audio.ts";
import { speak } from "./fixed-tts.ts";

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
