import type { AgentTuning } from "../../src/options.ts";
import type { Agent } from "../../src/ports/conversation.ts";

/** The agent of the options; without any, the one that follows a script. */
export async function configuredAgent(tuning: AgentTuning | undefined): Promise<Agent> {
  if (tuning === undefined || tuning.engine === "scripted") {
    const { scriptedAgent } = await import("./scripted/scripted-agent.ts");
    return scriptedAgent();
  }
  const { cascadeAgent } = await import("./cascade/cascade-agent.ts");
  const { baseUrl, apiKey, model } = tuning;
  return cascadeAgent({ baseUrl, apiKey, model });
}
