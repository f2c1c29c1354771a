import type { CallResult } from "../../domain/calls/call.ts";
import type { JsonSchema } from "../../domain/input/json-schema.ts";
import type { AgentTool } from "../../ports/agent-tool.ts";
import type { AudioAgent, AudioConversation } from "../../ports/audio-conversation.ts";
import type { Agent, Conversation } from "../../ports/conversation.ts";
import {
  acceptCount,
  acceptFlag,
  acceptOptional,
  acceptText,
  anything,
  nothing,
  only,
  plainObject,
  port,
  typed,
} from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { asks, iterates, notifies, reads, states, throwing, yields } from "./rules.ts";

/** Time an agent may take to open the conversation of a call, ms. */
const OPEN_MS = 30_000;

const closes = { boundedBy: "src/ringport.ts" };
/** The core asks for it in `AgentResult`, which ends the wait. */
const reports = { boundedBy: "src/application/call-audio/agents/agent-result.ts" };

const CONVERSATION: Rules<Conversation> = {
  result: states(acceptOptional<CallResult>(plainObject)),
  firstTokenMs: reads(acceptCount),
  replyTimeoutMs: reads(only("a number greater than 0", (ms) => typeof ms === "number" && ms > 0)),
  report: asks(reports),
  heard: notifies(),
  prepare: notifies(),
  reply: yields(typed(), { boundedBy: "src/application/call-audio/agents/prompt-replies.ts" }),
};

const AGENT: Rules<Agent> = {
  kind: reads<"text">(anything),
  name: reads(acceptText, "agent"),
  check: throwing(nothing),
  begin: throwing(port(CONVERSATION, "conversation")),
  close: asks(closes),
};

const AUDIO_CONVERSATION: Rules<AudioConversation> = {
  events: iterates(typed()),
  result: states(acceptOptional<CallResult>(plainObject)),
  report: asks(reports),
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
  kind: reads<"audio">(anything),
  name: reads(acceptText, "agent"),
  transcribes: reads(acceptFlag, false),
  check: throwing(nothing),
  open: asks(OPEN_MS, { accept: port(AUDIO_CONVERSATION, "conversation") }),
  close: asks(closes),
};

const AGENT_TOOL: Rules<AgentTool> = {
  name: reads(acceptText, ""),
  description: reads(acceptText, ""),
  parameters: reads<JsonSchema>(anything),
  timeoutMs: reads(only("a number greater than 0", (ms) => typeof ms === "number" && ms > 0)),
  run: asks({ boundedBy: "src/application/call-audio/agents/offered-tools.ts" }),
};

/** The agent of an embedding program. */
export function guardedAgent(agent: Agent | AudioAgent, parts: GuardParts): Guarded<Agent> | Guarded<AudioAgent> {
  return agent.kind === "audio" ? guarded(agent, AUDIO_AGENT, "agent", parts) : guarded(agent, AGENT, "agent", parts);
}

/** The tools of an embedding program. */
export function guardedTools(tools: readonly AgentTool[], parts: GuardParts): readonly Guarded<AgentTool>[] {
  return tools.map((tool) => guarded(tool, AGENT_TOOL, "tool", parts));
}
