import process from "node:process";
import type { CallMessageInput } from "../../../src/domain/calls/call-type-input.ts";
import type { ParsedLine } from "../command.ts";
import type { Finding } from "../doctor/finding.ts";
import { settingsOf } from "../settings/all-settings.ts";
import { type ServerSettings, settingValue } from "../settings/read-settings.ts";
import { print } from "../terminal/terminal.ts";
import { findLocalAgent } from "./local-agent.ts";

/** The callee at `LOCAL_NUMBER` answers these questions in this order. */
const INSTRUCTIONS: readonly string[] = [
  "Call for the Riverside clinic. Ask whether the appointment tomorrow at ten still works for them.",
  "Then ask which day works for the next check-up.",
  "Then ask how many people will come.",
  "Then thank the callee, say goodbye and hang up.",
];

const RESULT_SCHEMA = {
  type: "object",
  properties: {
    appointment_suits: { type: ["boolean", "null"] },
    day: { type: ["string", "null"] },
    people: { type: ["integer", "null"] },
  },
  required: ["appointment_suits", "day", "people"],
  additionalProperties: false,
} as const;

/** Maximum duration of the conversation, s: a small machine takes seconds for each reply. */
const MAX_SECONDS = 240;

/** A demo with an agent that runs on this machine. */
export interface LocalDemo {
  readonly settings: ServerSettings;
  readonly message: CallMessageInput;
  /** Human-readable list of the agent's parts. */
  readonly parts: readonly (readonly [part: string, name: string])[];
}

/**
 * The settings and the call of `demo --agent --local`; if parts of the agent are missing, a finding for each.
 * @param settings the demo's settings, without those for agents and transcription
 * @throws {UsageError} a setting cannot be used
 */
export async function localDemo(
  settings: ServerSettings,
  folder: string,
  line: ParsedLine,
): Promise<LocalDemo | readonly Finding[]> {
  const value = <T>(option: string): T | undefined => {
    const [setting] = settingsOf(option);
    return setting && (settingValue(setting, line, process.env) as T | undefined);
  };
  const voiceId = (line.values.get("voice") ?? value("agentVoiceId")) as string | undefined;
  const { embedded = {} } = settings.options;
  const isRealtime = value("embedded.agent.engine") === "realtime";
  const isLocal = value("embedded.transcription.engine") === "local";
  const agent = await findLocalAgent(
    {
      embedded,
      folder,
      // A realtime model cannot take the place of a language model.
      languageModel: isRealtime
        ? {}
        : {
            baseUrl: value("embedded.agent.baseUrl"),
            apiKey: value("embedded.agent.apiKey"),
            model: value("embedded.agent.model"),
          },
      recogniser: isLocal ? value("embedded.transcription.model") : undefined,
      language: isLocal ? value("embedded.transcription.language") : undefined,
      voiceId,
    },
    { onAsk: ({ baseUrl, model }) => print(`Waiting for a reply from ${model} at ${baseUrl}`) },
  );
  if (!("voice" in agent)) return agent;
  const { voice, recogniser, languageModel } = agent;
  return {
    settings: { ...settings, options: { ...settings.options, embedded: agent.embedded } },
    message: {
      type: "DYNAMIC_AGENT",
      agent: {
        instructions: [...INSTRUCTIONS],
        voiceId: voice.id,
        resultSchema: RESULT_SCHEMA,
        maxSeconds: MAX_SECONDS,
      },
    },
    parts: [
      ["language model", `${languageModel.model} at ${languageModel.baseUrl}`],
      ["recogniser", recogniser],
      ["voice", `${voice.id}, ${voice.name} (${voice.engine})`],
    ],
  };
}
