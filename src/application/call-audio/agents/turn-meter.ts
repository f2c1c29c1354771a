import { samplesToMs } from "../../../audio/samples/pcm.ts";
import type { TurnMetrics } from "../../../domain/agents/turn-metrics.ts";

/** Maximum number of turns kept for one call. */
const MAX_TURNS = 500;
/** Level of the loudest inaudible sample. */
const INAUDIBLE_LEVEL = 60;
/** Duration above which a decision is assumed to have waited for the rest of a turn, ms. */
const CONTINUATION_MS = 100;

type Turn = { -readonly [Name in keyof TurnMetrics]: TurnMetrics[Name] };

/**
 * Measures the turns of one agent call: the callee's side in the leg's own samples, the work of the agent and its
 * engines on a clock that never jumps. Allocates nothing per frame.
 */
export class TurnMeter {
  readonly turns: TurnMetrics[] = [];
  readonly #sampleRate: number;
  readonly #monotonic: () => number;
  /** Number of samples that the leg has played. */
  #playedSamples = 0;
  /**
   * Beginning and end of the callee's latest speech, or key, in samples that were played; undefined before the first.
   */
  #calleeStart: number | undefined;
  #calleeEnd: number | undefined;
  #isSpeaking = false;
  /** Position at which the end of the callee's turn was decided. */
  #turnEnd: number | undefined;
  #finalMs: number | null = null;
  #eouMs: number | null = null;
  /** Position at which the agent stopped because the callee spoke. */
  #heldAt: number | undefined;
  #turn: Turn | undefined;
  #requestedAt = 0;
  #sentenceAt = 0;
  /** Number of samples of silence at the start of the turn's audio; undefined after audible samples or at the end. */
  #leadingSilence: number | undefined;

  /** @param monotonic ms on a clock that never jumps */
  constructor(sampleRate: number, monotonic: () => number) {
    this.#sampleRate = sampleRate;
    this.#monotonic = monotonic;
  }

  /** Adds a frame of the callee. @param hangOverMs time reported as speech after the last voiced sound, ms */
  addCalleeFrame(isSpeaking: boolean, hangOverMs: number): void {
    if (isSpeaking && !this.#isSpeaking) this.#calleeStart = this.#playedSamples;
    if (!isSpeaking && this.#isSpeaking)
      this.#calleeEnd = Math.max(this.#calleeStart ?? 0, this.#playedSamples - (hangOverMs * this.#sampleRate) / 1_000);
    this.#isSpeaking = isSpeaking;
  }

  /** Records a key of the callee. */
  recordKey(): void {
    this.#calleeStart = this.#calleeEnd = this.#playedSamples;
  }

  /** Records the end of the callee's turn. */
  recordTurnEnd(): void {
    this.#turnEnd = this.#playedSamples;
    this.#eouMs = this.#msSince(this.#calleeEnd);
  }

  /** Records that the callee's words are known. */
  recordWords(): void {
    this.#finalMs = this.#msSince(this.#turnEnd ?? this.#calleeEnd);
  }

  /** Records that the whole turn is known; its words may have waited for the rest. */
  recordWholeTurn(): void {
    const sinceSpeech = this.#msSince(this.#calleeEnd);
    const decisionMs = sinceSpeech !== null && this.#finalMs !== null ? sinceSpeech - this.#finalMs : 0;
    if (decisionMs > Math.max(this.#eouMs ?? 0, CONTINUATION_MS)) this.#eouMs = decisionMs;
  }

  /** Records that the agent falls silent because the callee speaks. */
  recordHold(): void {
    this.#heldAt = this.#playedSamples;
  }

  /** Records that the callee has interrupted the agent. @param bySpeech false if they pressed a key */
  recordInterruption(bySpeech: boolean): void {
    if (this.#turn === undefined) return;
    this.#turn.interrupted = true;
    const start = this.#calleeStart;
    if (bySpeech && start !== undefined)
      this.#turn.interruptLatencyMs = this.#ms(Math.max(0, (this.#heldAt ?? this.#playedSamples) - start));
  }

  /** Called when the agent is asked for a reply. */
  recordRequest(input: { readonly type: TurnMetrics["input"]; readonly continued?: boolean | undefined }): void {
    const isWords = input.type === "words";
    // The previous reply was not heard: this turn replaces that one.
    if (isWords && input.continued && this.#turn === this.turns.at(-1)) this.turns.pop();
    this.#turn = {
      input: input.type,
      eouDelayMs: isWords ? this.#eouMs : null,
      sttFinalMs: isWords ? this.#finalMs : null,
      llmTtftMs: null,
      firstSentenceMs: null,
      ttsTtfbMs: null,
      ttsLeadingSilenceMs: null,
      firstAudioSentMs: null,
      turnGapMs: null,
      interrupted: false,
      interruptLatencyMs: null,
    };
    if (this.turns.length < MAX_TURNS) this.turns.push(this.#turn);
    this.#requestedAt = this.#monotonic();
    this.#turnEnd = this.#heldAt = this.#leadingSilence = undefined;
    this.#eouMs = this.#finalMs = null;
  }

  /** @param firstTokenMs time to the model's first token, ms; undefined without a model */
  recordFirstToken(firstTokenMs: number | undefined): void {
    if (this.#turn !== undefined && firstTokenMs !== undefined) this.#turn.llmTtftMs = Math.round(firstTokenMs);
  }

  /** Called when the agent passes on a sentence. */
  recordSentence(): void {
    if (this.#turn === undefined || this.#turn.firstSentenceMs !== null) return;
    this.#sentenceAt = this.#monotonic();
    this.#turn.firstSentenceMs = Math.round(this.#sentenceAt - this.#requestedAt);
  }

  /** Called with the first samples of a sentence. */
  recordFirstSamples(): void {
    if (this.#turn === undefined || this.#turn.ttsTtfbMs !== null) return;
    this.#turn.ttsTtfbMs = Math.round(this.#monotonic() - this.#sentenceAt);
    this.#leadingSilence = 0;
  }

  /** Called with the first audio of a reply from an agent that needs no speech engine. */
  recordFirstAudio(): void {
    if (this.#turn === undefined || this.#turn.llmTtftMs !== null) return;
    this.#turn.llmTtftMs = Math.round(this.#monotonic() - this.#requestedAt);
    this.#leadingSilence = 0;
  }

  /** Adds audio that the callee hears. */
  addPlayedAudio(samples: Int16Array | undefined, from: number, length: number): void {
    if (samples !== undefined && this.#leadingSilence !== undefined) this.#measureAudio(samples, from, length);
    this.#playedSamples += length;
  }

  #measureAudio(samples: Int16Array, from: number, length: number): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    turn.firstAudioSentMs ??= Math.round(this.#monotonic() - this.#requestedAt);
    for (let at = 0; at < length; at++) {
      if (Math.abs(samples[from + at]!) <= INAUDIBLE_LEVEL) continue;
      turn.ttsLeadingSilenceMs = this.#ms((this.#leadingSilence ?? 0) + at);
      this.#leadingSilence = undefined;
      const isReply = turn.input === "words" || turn.input === "key";
      if (isReply && this.#calleeEnd !== undefined)
        turn.turnGapMs = this.#ms(Math.max(0, this.#playedSamples + at - this.#calleeEnd));
      return;
    }
    this.#leadingSilence = (this.#leadingSilence ?? 0) + length;
  }

  #msSince(position: number | undefined): number | null {
    return position === undefined ? null : this.#ms(Math.max(0, this.#playedSamples - position));
  }

  #ms(samples: number): number {
    return Math.round(samplesToMs(samples, this.#sampleRate));
  }
}
