/** The meaning of a realtime server's message. */
type Meaning = "committed" | "partial" | "final" | "failed" | "fault" | "ready";

/** Differences in transcription between servers with "the OpenAI realtime protocol". */
export interface RealtimeDialect {
  /** Supported sample rates, Hz. */
  readonly sampleRates: readonly number[];
  /** The path after the base URL. */
  readonly path: string;
  /** The message that requests the session. */
  opening(model: string, languages: readonly string[], sampleRate: number): object;
  /** Sent before the audio of a turn. */
  readonly turnBeginMessage: object | undefined;
  readonly turnEndMessage: object;
  /** Meanings of the messages, by type. */
  readonly meanings: ReadonlyMap<string, Meaning>;
  /** The member of a final message that contains the text. */
  readonly text: "transcript" | "text";
}

/** A variant of the realtime protocol. */
export type RealtimeDialectName = "openai" | "vllm";

/** Written from both protocols' public references. */
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
    turnBeginMessage: undefined,
    turnEndMessage: { type: "input_audio_buffer.commit" },
    meanings: new Map(
      Object.entries<Meaning>({
        "session.updated": "ready",
        "input_audio_buffer.committed": "committed",
        "conversation.item.input_audio_transcription.delta": "partial",
        "conversation.item.input_audio_transcription.completed": "final",
        "conversation.item.input_audio_transcription.failed": "failed",
        error: "fault",
      }),
    ),
    text: "transcript",
  },
  /** https://docs.vllm.ai: a commit starts a turn, and one with `final` ends it. There are no ids. */
  vllm: {
    sampleRates: [16_000],
    path: "/realtime",
    opening: (model) => ({ type: "session.update", model }),
    turnBeginMessage: { type: "input_audio_buffer.commit" },
    turnEndMessage: { type: "input_audio_buffer.commit", final: true },
    meanings: new Map(
      Object.entries<Meaning>({
        "session.created": "ready",
        "transcription.delta": "partial",
        "transcription.done": "final",
        error: "fault",
      }),
    ),
    text: "text",
  },
};

/** One language is sent as `language`, several (for newer models) as `languages`. */
function languageMembers(languages: readonly string[]): object {
  const [first, ...others] = languages;
  if (first === undefined) return {};
  return others.length === 0 ? { language: first } : { languages };
}
