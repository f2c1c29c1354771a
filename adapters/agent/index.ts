// Agents for `createRingport({ agent })`.

export { type CascadeAgentOptions, cascadeAgent } from "./cascade/cascade-agent.ts";
export type { ChatOptions } from "./cascade/chat-client.ts";
export { type RealtimeAgentOptions, realtimeAgent } from "./realtime/realtime-agent.ts";
export type { SessionOptions as RealtimeSessionOptions } from "./realtime/realtime-session.ts";
export { scriptedAgent } from "./scripted/scripted-agent.ts";
export { type AgentToolOptions, agentTool } from "./tools/valibot-tool.ts";
