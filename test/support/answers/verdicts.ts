import { AnswerAnalyzer } from "../../../src/application/call-audio/answer-analyzer.ts";
import { InboundAnalyzer } from "../../../src/application/call-audio/inbound-analyzer.ts";
import { Vad } from "../../../src/audio/voice/vad.ts";
import type { AnsweredBy, AnswerVerdict } from "../../../src/domain/answering/answering-machine.ts";
import type { Answer } from "./answer-set.ts";

/**
 * Verdicts on an answer, in order, as a call reports them.
 * @param isDetecting false to detect only keys, speech and beeps
 */
export function verdictsOn({ samples, sampleRate }: Answer, isDetecting = true): AnswerVerdict[] {
  const verdicts: AnswerVerdict[] = [];
  let answer: AnswerAnalyzer | undefined;
  const inbound = new InboundAnalyzer(
    { sampleRate, inBandDtmf: () => true, voiceActivity: (rate) => new Vad(rate) },
    {
      onFirstAudio() {},
      onDigit() {},
      onSpeech() {},
      onBeep: (hz, atMs) => answer?.beep(hz, atMs),
      onLineTone: (finding) => {
        const verdict = answer?.tone(finding);
        if (verdict !== undefined) verdicts.push(verdict);
      },
      onSuspicionChange() {},
    },
  );
  const reports = { onAnswer: (verdict: AnswerVerdict) => void verdicts.push(verdict), onGreetingEnd() {} };
  if (isDetecting) answer = new AnswerAnalyzer(inbound, sampleRate, reports);
  const frame = sampleRate / 50;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    const part = samples.subarray(at, at + frame);
    inbound.inbound(part);
    answer?.inbound(part);
  }
  return verdicts;
}

/** Recognition rates of answers. */
export interface Recognition {
  /** Precision and recall, 0 to 1. */
  readonly precision: number;
  readonly recall: number;
}

/** Recognition rate of one kind of answerer. */
export function recognitionOf(
  answerer: Exclude<AnsweredBy, "unknown">,
  results: readonly { readonly answer: Answer; readonly verdicts: readonly AnswerVerdict[] }[],
): Recognition {
  const matching = results.filter(({ verdicts }) => verdicts.at(-1)?.answeredBy === answerer);
  const correctCount = matching.filter(({ answer }) => answer.answerer === answerer).length;
  return {
    precision: correctCount / matching.length,
    recall: correctCount / results.filter(({ answer }) => answer.answerer === answerer).length,
  };
}
