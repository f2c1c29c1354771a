import { type Call, machinePolicyOf, screeningPolicyOf, startRulesOf } from "../../../domain/calls/call.ts";
import type { FlowRules } from "../../../domain/calls/call-flow.ts";
import { timingsOf } from "../../../domain/calls/call-timings.ts";
import type { Telephony } from "../../../ports/telephony.ts";
import { programOf } from "../../call-audio/call-types/all-call-types.ts";
import type { Context } from "../../context.ts";

/** Dependencies of {@link flowRulesOf}. */
export type FlowRulesContext = Pick<Context, "requireInboundAudio" | "timings">;

/** The rules that a live call follows: those of its message, of its network and of the server. */
export function flowRulesOf(context: FlowRulesContext, call: Call, telephony: Telephony): FlowRules {
  const program = programOf(call);
  const { inboundAudioCertain, mediaSetupMs = 0 } = telephony.capabilities;
  const timings = timingsOf(call, context.timings);
  return {
    timings: { ...timings, mediaSetupMs: Math.max(timings.mediaSetupMs, mediaSetupMs) },
    expectsInboundAudio: context.requireInboundAudio || inboundAudioCertain,
    isStreamed: program.kind === "live" && program.isStreamed,
    playedReason: program.kind === "live" ? program.playedReason : "message_played",
    onMachine: machinePolicyOf(call.message),
    onScreening: screeningPolicyOf(call.message),
    hasFixedMessage: program.kind === "message",
    start: startRulesOf(call.message),
  };
}
