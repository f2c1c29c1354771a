import { httpUrl, oneOf, onOff, textSetting, wholeNumber } from "./parsers.ts";
import { HIDDEN, setting } from "./setting.ts";

/** Settings of the agent that conducts calls. */
export const AGENT = [
  setting(
    "embedded.agent.engine",
    "RINGPORT_AGENT_ENGINE",
    oneOf("scripted", "cascade", "realtime"),
    "scripted",
    "Agent for DYNAMIC_AGENT calls: a script, a language model with transcription and speech, or a model that hears and speaks itself.",
  ),
  setting(
    "embedded.agent.baseUrl",
    "RINGPORT_AGENT_URL",
    httpUrl,
    "none",
    "cascade: address of a server with POST {URL}/chat/completions; realtime: with the WebSocket {URL}/realtime.",
  ),
  setting("embedded.agent.apiKey", "RINGPORT_AGENT_KEY", textSetting("KEY", "a key"), "none", "Its key.", HIDDEN),
  setting("embedded.agent.model", "RINGPORT_AGENT_MODEL", textSetting("NAME", "a model's name"), "none", "Its model."),
  setting(
    "embedded.agent.maxTurns",
    "RINGPORT_AGENT_MAX_TURNS",
    wholeNumber(1, 100_000),
    "100",
    "Limit of the model's replies in one call; at the limit the agent ends the call with a goodbye.",
  ),
  setting(
    "embedded.agent.maxTokens",
    "RINGPORT_AGENT_MAX_TOKENS",
    wholeNumber(1, 1_000_000_000),
    "200000",
    "Limit of tokens in one call, as far as the server counts them; at the limit the agent ends the call with a goodbye.",
  ),
  setting(
    "agentVoiceId",
    "RINGPORT_AGENT_VOICE",
    textSetting(
      "VOICE",
      "a voice id such as en-US-1 or pt-BR-1, or for realtime the provider's name of a voice",
      /^[\w.:-]{1,64}$/,
    ),
    "en-US-1, or the first voice that works",
    "Default voice of agents; realtime: the provider's name of a voice.",
  ),
  setting(
    "embedded.httpTools.tools",
    "RINGPORT_AGENT_TOOLS",
    textSetting("JSON", "a list of HTTP tools as JSON, or a file with it"),
    "none",
    "HTTP requests that a model may send during a call.",
    HIDDEN,
  ),
  setting(
    "embedded.httpTools.allowPrivate",
    "RINGPORT_AGENT_TOOLS_ALLOW_PRIVATE",
    onOff,
    "off",
    "Lets these requests go to private addresses, and without HTTPS.",
  ),
] as const;
