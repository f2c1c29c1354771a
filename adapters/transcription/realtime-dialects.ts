/** What a message of a realtime server says. */
type Meaning = "committed" | "partial" | "final" | "failed" | "fault" | "ready";

/** What differs between servers that speak "the OpenAI realtime protocol", as far as transcribing goes. */
export interface RealtimeDialect {
  /** Rates that it takes, Hz. */
  readonly sampleRates: readonly number[];
  /** Behind the base URL. */
  readonly path: string;
  /** The session that is asked for. */
  opening(model: string, languages: readonly string[], sampleRate: number): object;
  /** Said before the audio of a turn. */
  readonly turnBegins: object | undefined;
  readonly turnEnds: object;
  /** By the type of the message. */
  readonly meanings: Readonly<Record<string, Meaning>>;
  /** The member that holds the whole text of a final message. */
  readonly text: "transcript" | "text";
}

/** Whose messages an engine with a realtime protocol speaks. */
export type RealtimeDialectName = "openai" | "vllm";

/** Written from the public references of both, not from recordings. */
export const REALTIME_DIALECTS: Readonly<Record<RealtimeDialectName, RealtimeDialect>> = {
  /** https://developers.openai.com/api/docs/guides/realtime-transcription */
  openai: {
    sampleRates: [24_000],
    path: "/realtime?intent=transcription",
    opening: (model, languages, rate) => ({
      type: "session.update",
      session: {
        type: "transcription",
        audio: {
          input: {
            format: { type: "audio/pcm", rate },
            transcription: { model, ...languageMembers(languages) },
            turn_detection: null,
          },
        },
      },
    }),
    turnBegins: undefined,
    turnEnds: { type: "input_audio_buffer.commit" },
    meanings: {
      "session.updated": "ready",
      "input_audio_buffer.committed": "committed",
      "conversation.item.input_audio_transcription.delta": "partial",
      "conversation.item.input_audio_transcription.completed": "final",
      "conversation.item.input_audio_transcription.failed": "failed",
      error: "fault",
    },
    text: "transcript",
  },
  /** https://docs.vllm.ai: a commit begins a turn, one with `final` ends it; nothing has an id. */
  vllm: {
    sampleRates: [16_000],
    path: "/realtime",
    opening: (model) => ({ type: "session.update", model }),
    turnBegins: { type: "input_audio_buffer.commit" },
    turnEnds: { type: "input_audio_buffer.commit", final: true },
    meanings: {
      "session.created": "ready",
      "transcription.delta": "partial",
      "transcription.done": "final",
      error: "fault",
    },
    text: "text",
  },
};

/** One language is sent as `language`, several as `languages`, as newer models have it. */
function languageMembers(languages: readonly string[]): object {
  const [only, ...more] = languages;
  if (only === undefined) return {};
  return more.length === 0 ? { language: only } : { languages };
}
