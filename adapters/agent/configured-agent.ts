import type { AgentTuning } from "../../src/options.ts";
import type { AudioAgent } from "../../src/ports/audio-conversation.ts";
import type { Agent } from "../../src/ports/conversation.ts";

/** The configured agent; the `scripted` one by default. */
export async function configuredAgent(tuning: AgentTuning | undefined): Promise<Agent | AudioAgent> {
  if (tuning === undefined || tuning.engine === "scripted") {
    const { scriptedAgent } = await import("./scripted/scripted-agent.ts");
    return scriptedAgent();
  }
  if (tuning.engine === "realtime") {
    const { realtimeAgent } = await import("./realtime/realtime-agent.ts");
    const { baseUrl, apiKey, model, voice, maxTurns, maxTokens } = tuning;
    return realtimeAgent({ baseUrl, apiKey, model, voice, maxTurns, maxTokens });
  }
  const { cascadeAgent } = await import("./cascade/cascade-agent.ts");
  const { baseUrl, apiKey, model, maxTurns, maxTokens } = tuning;
  return cascadeAgent({ baseUrl, apiKey, model, maxTurns, maxTokens });
}
