/**
 * The latencies of one turn of an agent: from its cause to the agent's first audible word. All are ms; null if the turn
 * lacks that event. The phone network's own delay is not included.
 */
export interface TurnMetrics {
  /** Input that the agent replied to. */
  readonly input:
    | "begin"
    | "key"
    | "words"
    | "silence"
    | "voicemail"
    | "transfer_failed"
    | "unheard"
    | "fault"
    | "ending";
  /**
   * Time from the callee's last speech to the decision that the turn had ended; null if the engine decides that itself.
   */
  readonly eouDelayMs: number | null;
  /** Time from that decision, otherwise from the callee's last speech, to the final text. */
  readonly sttFinalMs: number | null;
  /** Time from the request for a reply to the model's first token; null without a model. */
  readonly llmTtftMs: number | null;
  /** Time from the request for a reply to its first sentence. */
  readonly firstSentenceMs: number | null;
  /** Time from the first sentence to its first samples from the speech engine. */
  readonly ttsTtfbMs: number | null;
  /** Silence at the start of the agent's audio. */
  readonly ttsLeadingSilenceMs: number | null;
  /** Time from the request for a reply to its first sent sample. */
  readonly firstAudioSentMs: number | null;
  /** Time from the callee's last speech, or key, to the agent's first audible sample. */
  readonly turnGapMs: number | null;
  /** True if the callee interrupted the agent's words. */
  readonly interrupted: boolean;
  /**
   * Time from the beginning of the callee's speech to the agent's last sample; null unless speech interrupted the turn.
   */
  readonly interruptLatencyMs: number | null;
}
