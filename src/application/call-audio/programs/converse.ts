import { errorText } from "../../../base/error-text.ts";
import type { Agent } from "../../../ports/conversation.ts";
import type { Context } from "../../context.ts";
import { AgentCall } from "../agents/agent-call.ts";
import { agentVoice, briefOf } from "../agents/agent-voice.ts";
import { type LiveProgram, ProgramFailed } from "./program.ts";

/** DYNAMIC_AGENT: an agent conducts the call. */
export const converse: LiveProgram<"DYNAMIC_AGENT"> = {
  kind: "live",
  streamed: false,
  playedReason: "agent_finished",
  async check(context, call, network) {
    const agent = agentOf(context);
    try {
      const voice = await agentVoice(context, call);
      if (voice === undefined) throw new Error("an agent needs a voice, and no speech engine is installed here");
      agent.check(briefOf(context, call, voice, network));
    } catch (error) {
      throw new ProgramFailed("agent_unavailable", errorText(error), { cause: error });
    }
  },
  connect(context, call, media) {
    const conducted = new AgentCall(context, call, agentOf(context), media);
    return { taps: [conducted], result: () => conducted.result, turns: () => conducted.turns };
  },
};

/** The agent of this server. @throws {ProgramFailed} there is none */
function agentOf({ agent }: Context): Agent {
  if (agent === undefined) throw new ProgramFailed("agent_unavailable", "no AI agent is configured on this server");
  return agent;
}
