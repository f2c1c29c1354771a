import type { Call } from "../../../domain/calls/call.ts";
import type { Telephony } from "../../../ports/telephony.ts";
import { programOf } from "../../call-audio/call-types/all-call-types.ts";
import { ProgramFailed } from "../../call-audio/call-types/call-type-program.ts";
import type { Context } from "../../context.ts";

/** True for a live call on a network that does not return the callee's audio. */
export function isOneWay(call: Call, { capabilities }: Telephony): boolean {
  return programOf(call).kind === "live" && capabilities.receivesAudio === false;
}

/**
 * Refuses a live call on a network that does not return the callee's audio, if the operator wants such calls refused.
 * @throws {ProgramFailed} the call is refused before it is dialled
 */
export function assertNotOneWay({ oneWayCalls }: Pick<Context, "oneWayCalls">, call: Call, network: Telephony): void {
  if (oneWayCalls !== "refuse" || !isOneWay(call, network)) return;
  const reason = call.message.type === "DYNAMIC_AGENT" ? "agent_unavailable" : "stream_unavailable";
  const detail = `the network "${network.name}" does not return the callee's audio (receivesAudio is false), and this server refuses such calls (oneWayCalls): use FIXED_TTS or FIXED_AUDIO, or an instance on another network`;
  throw new ProgramFailed(reason, detail);
}
