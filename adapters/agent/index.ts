// Agents for `createRingport({ agent })`.

export { type CascadeAgentOptions, cascadeAgent } from "./cascade/cascade-agent.ts";
export type { ChatOptions } from "./cascade/chat-client.ts";
export { scriptedAgent } from "./scripted/scripted-agent.ts";
export { type AgentToolOptions, agentTool } from "./tools/agent-tool.ts";
