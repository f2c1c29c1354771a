import type { CallOf } from "../../../domain/calls/call.ts";
import type { OfferedTool } from "../../../ports/agent-tool.ts";
import type { AgentBrief } from "../../../ports/conversation.ts";
import type { Voice } from "../../../ports/speech.ts";
import type { Telephony } from "../../../ports/telephony.ts";
import type { Context } from "../../context.ts";

/** Dependencies of {@link agentVoice} and {@link briefOf}. */
export type AgentVoiceContext = Pick<Context, "agentVoiceId" | "speech" | "transcription">;

/** Voice used if neither the call nor the server names one. */
const DEFAULT_VOICE_ID = "en-US-1";
/** Language used if neither the call nor its voice names one. */
const DEFAULT_LANGUAGE = "en-US";

/**
 * The voice of a call's agent; undefined if no voice can speak here.
 * @throws {VoiceUnavailable} the voice that was named cannot speak
 */
export async function agentVoice(
  context: AgentVoiceContext,
  call: CallOf<"DYNAMIC_AGENT">,
): Promise<Voice | undefined> {
  const { speech, agentVoiceId } = context;
  const { voiceId, language } = call.message;
  if (voiceId !== undefined) return speech.voice(voiceId);
  const defaultId = agentVoiceId ?? DEFAULT_VOICE_ID;
  if (language !== undefined) return voiceOf(await speech.voices(), language, defaultId);
  if (agentVoiceId !== undefined) return speech.voice(agentVoiceId);
  const voices = await speech.voices();
  return voices.find(({ id }) => id === defaultId) ?? voices[0];
}

/**
 * A voice for a language, preferably for the same region; undefined if there is none.
 * @param preferredId the id of the voice to prefer if it speaks the language
 */
export function voiceOf(voices: readonly Voice[], language: string, preferredId = DEFAULT_VOICE_ID): Voice | undefined {
  const [primary] = language.split("-");
  const exactMatches = voices.filter((voice) => voice.language === language);
  const candidates =
    exactMatches.length > 0 ? exactMatches : voices.filter((voice) => voice.language.split("-")[0] === primary);
  return candidates.find(({ id }) => id === preferredId) ?? candidates[0];
}

/**
 * Description of a call for its agent.
 * @param voice undefined if the agent speaks with its own voice
 * @param tools undefined if no tool can be used
 */
export function briefOf(
  context: AgentVoiceContext,
  call: CallOf<"DYNAMIC_AGENT">,
  voice: Voice | undefined,
  network: Telephony | undefined,
  tools?: readonly OfferedTool[],
): AgentBrief {
  return {
    callId: call.id,
    instructions: call.message.instructions,
    firstMessage: call.message.firstMessage,
    variables: call.message.variables,
    maxTurns: call.message.maxTurns,
    resultSchema: call.message.resultSchema,
    language: call.message.language ?? voice?.language ?? DEFAULT_LANGUAGE,
    hearsWords: context.transcription !== undefined,
    tools,
    canTransfer: network?.capabilities.transfers === true,
    transferTo: call.message.transferTo,
  };
}
