import { ConfigurationError, errorText } from "../../../base/error.ts";
import type { CallOf } from "../../../domain/calls/call.ts";
import type { AudioAgent } from "../../../ports/audio-conversation.ts";
import type { Agent } from "../../../ports/conversation.ts";
import type { Voice } from "../../../ports/speech.ts";
import type { Context } from "../../context.ts";
import { AgentCall } from "../agents/agent-call.ts";
import { type AgentVoiceContext, agentVoice, briefOf } from "../agents/agent-voice.ts";
import { AudioAgentCall } from "../agents/audio-agent-call.ts";
import { offeredTools } from "../agents/offered-tools.ts";
import { type LiveCallMedia, type LiveParts, type LiveProgram, ProgramFailed } from "./call-type-program.ts";

type ConverseContext = AgentVoiceContext;

/** DYNAMIC_AGENT: an agent conducts the call. */
export const converse: LiveProgram<"DYNAMIC_AGENT"> = {
  kind: "live",
  isStreamed: false,
  playedReason: "agent_finished",
  async check(context, call, network) {
    const agent = agentOf(context);
    try {
      const voice = await voiceFor(context, call, agent);
      const brief = briefOf(context, call, voice, network);
      agent.check(brief);
      if (agent.kind !== "audio") await assertHearing(context, (hearsWords) => agent.check({ ...brief, hearsWords }));
    } catch (error) {
      throw agentUnavailable(error);
    }
  },
  async prepare(context, call, network, signal) {
    const agent = agentOf(context);
    if (agent.kind !== "audio") return (media) => partsOf(new AgentCall(context, call, agent, media));
    try {
      const voice = await voiceFor(context, call, agent);
      let post: LiveCallMedia["post"] = () => {}; // no tool is used before the answer
      const tools = offeredTools(context, call, signal, (data) =>
        post({ type: "noticed", fact: { event: "tool_used", data } }),
      );
      let awaitResult = (): Promise<unknown> | undefined => undefined;
      const scope = extendedSignal(signal, () => awaitResult());
      const conversation = await agent.open(briefOf(context, call, voice, network, tools), scope);
      return (media) => {
        post = media.post;
        const agentCall = new AudioAgentCall(context, call, { agent, conversation, voiceId: voice?.id }, media);
        awaitResult = () => agentCall.awaitResult();
        return partsOf(agentCall);
      };
    } catch (error) {
      throw agentUnavailable(error);
    }
  },
  connect() {
    throw new ProgramFailed("internal_error", "the agent was not prepared before the call");
  },
};

function partsOf(agentCall: AgentCall | AudioAgentCall): LiveParts {
  return {
    taps: [agentCall],
    result: () => agentCall.result,
    findings: () => agentCall.core.findings,
    turns: () => agentCall.core.meter.turns,
    awaitVoicemail: () => agentCall.core.onMachineGreeting(),
    leaveMessage: () => agentCall.leaveMessage(),
  };
}

/** A signal that is aborted after another signal, once the remaining work is done. */
function extendedSignal(signal: AbortSignal, remainingWork: () => Promise<unknown> | undefined): AbortSignal {
  const scope = new AbortController();
  const end = (): void => scope.abort(signal.reason);
  const onAbort = (): void => {
    const work = remainingWork();
    if (work === undefined) end();
    else void work.finally(end);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return scope.signal;
}

/**
 * Checks this server's transcription, if the call needs it.
 * @param check checks the call with or without words of the callee
 * @throws {ConfigurationError} the call needs words, and the transcription fails
 */
async function assertHearing(
  { transcription }: Pick<Context, "transcription">,
  check: (hearsWords: boolean) => void,
): Promise<void> {
  const fault = await transcription?.check?.().then(() => undefined, errorText);
  if (fault === undefined) return;
  try {
    check(false);
  } catch (cause) {
    throw new ConfigurationError(`the agent needs transcription: ${fault}`, { cause });
  }
}

/** The agent of this server. @throws {ProgramFailed} no agent is configured */
function agentOf({ agent }: Pick<Context, "agent">): Agent | AudioAgent {
  if (agent === undefined) throw new ProgramFailed("agent_unavailable", "no AI agent is configured on this server");
  return agent;
}

/**
 * The voice of the agent; an audio agent needs one only for an apology.
 * @throws {ConfigurationError} no voice can speak
 */
async function voiceFor(
  context: ConverseContext,
  call: CallOf<"DYNAMIC_AGENT">,
  agent: Agent | AudioAgent,
): Promise<Voice | undefined> {
  if (agent.kind === "audio") return agentVoice(context, call).catch(() => undefined);
  const voice = await agentVoice(context, call);
  if (voice === undefined)
    throw new ConfigurationError("an agent needs a voice, and no speech engine is installed here");
  return voice;
}

function agentUnavailable(error: unknown): ProgramFailed {
  return new ProgramFailed("agent_unavailable", errorText(error), { cause: error });
}
