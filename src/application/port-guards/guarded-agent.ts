import type { CallResult } from "../../domain/calls/call.ts";
import type { JsonSchema } from "../../domain/input/json-schema.ts";
import type { AgentTool } from "../../ports/agent-tool.ts";
import type { AudioAgent, AudioConversation } from "../../ports/audio-conversation.ts";
import type { Agent, Conversation } from "../../ports/conversation.ts";
import {
  acceptAny,
  acceptCount,
  acceptFlag,
  acceptOnly,
  acceptOptional,
  acceptPlainObject,
  acceptPort,
  acceptText,
  acceptTyped,
  acceptVoid,
} from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { iterates, mayThrow, notifies, reads, readsOrThrows, resolves, yields } from "./rules.ts";

/** Maximum time for an agent to open a call's conversation, ms. */
const OPEN_MS = 30_000;

const closeLimit = { boundedBy: "src/ringport.ts" };
/** `AgentResult` requests the report, and ends the wait. */
const reportLimit = { boundedBy: "src/application/call-audio/agents/agent-result.ts" };

const CONVERSATION: Rules<Conversation> = {
  result: readsOrThrows(acceptOptional<CallResult>(acceptPlainObject)),
  firstTokenMs: reads(acceptCount),
  replyTimeoutMs: reads(acceptOnly("a number greater than 0", (ms) => typeof ms === "number" && ms > 0)),
  report: resolves(reportLimit),
  heard: notifies(),
  prepare: notifies(),
  reply: yields(acceptTyped(), { boundedBy: "src/application/call-audio/agents/prompt-replies.ts" }),
};

const AGENT: Rules<Agent> = {
  kind: reads<"text">(acceptAny),
  name: reads(acceptText, "agent"),
  check: mayThrow(acceptVoid),
  begin: mayThrow(acceptPort(CONVERSATION, "conversation")),
  close: resolves(closeLimit),
};

const AUDIO_CONVERSATION: Rules<AudioConversation> = {
  events: iterates(acceptTyped()),
  result: readsOrThrows(acceptOptional<CallResult>(acceptPlainObject)),
  report: resolves(reportLimit),
  answered: notifies(),
  hear: notifies(),
  key: notifies(),
  silence: notifies(),
  transferFailed: notifies(),
  voicemail: notifies(),
  ending: notifies(),
  interrupted: notifies(),
};

const AUDIO_AGENT: Rules<AudioAgent> = {
  kind: reads<"audio">(acceptAny),
  name: reads(acceptText, "agent"),
  transcribes: reads(acceptFlag, false),
  check: mayThrow(acceptVoid),
  open: resolves(OPEN_MS, { accept: acceptPort(AUDIO_CONVERSATION, "conversation") }),
  close: resolves(closeLimit),
};

const AGENT_TOOL: Rules<AgentTool> = {
  name: reads(acceptText, ""),
  description: reads(acceptText, ""),
  parameters: reads<JsonSchema>(acceptAny),
  timeoutMs: reads(acceptOnly("a number greater than 0", (ms) => typeof ms === "number" && ms > 0)),
  run: resolves({ boundedBy: "src/application/call-audio/agents/offered-tools.ts" }),
};

/** The agent of an embedding program. */
export function guardedAgent(agent: Agent | AudioAgent, parts: GuardParts): Guarded<Agent> | Guarded<AudioAgent> {
  return agent.kind === "audio" ? guarded(agent, AUDIO_AGENT, "agent", parts) : guarded(agent, AGENT, "agent", parts);
}

/** The tools of an embedding program. */
export function guardedTools(tools: readonly AgentTool[], parts: GuardParts): readonly Guarded<AgentTool>[] {
  return tools.map((tool) => guarded(tool, AGENT_TOOL, "tool", parts));
}
