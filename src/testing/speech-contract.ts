import { concatPcm, rms } from "../audio/samples/pcm.ts";
import type { PcmChunk } from "../ports/media.ts";
import { type Speech, SpeechFailed, VoiceUnavailable } from "../ports/speech.ts";
import { clausesOf } from "./contract-clause.ts";
import type { ContractRunner } from "./contract-runner.ts";

/** The speech under test, new for each test. */
export interface SpeechUnderTest {
  readonly speech: Speech;
  /** A voice that works. */
  readonly voiceId: string;
  /** A sentence of ten words in the language of that voice. */
  readonly sentence: string;
  /** A well-formed voice id in the same language that does not work. */
  readonly missingVoiceId: string;
  /** Called after the speech has been closed. */
  close(): Promise<void>;
}

/** Bounds of the time that a voice takes for a word, including pauses, ms. */
const MIN_WORD_MS = 150;
const MAX_WORD_MS = 1000;
const WORD_COUNT = 10;
/** Maximum silence before the first sound, ms, with room for a soft beginning. */
const MAX_LEADING_SILENCE_MS = 120;
const MAX_AUDIO_MS = 600_000;
/** Maximum stall of the thread, ms: the design allows 50 ms on an idle machine, but test machines are busy. */
const MAX_STALL_MS = 400;
/** Factor by which a difficult text may take longer than an ordinary text of the same length. */
const MAX_EXTRA_WORK = 10;

/** Texts that an engine could mistake for markup, options or commands. */
const UNUSUAL_TEXTS: readonly string[] = [
  'Wait <break time="100s"/> no longer.',
  "-o /etc/passwd is what she said.",
  "A nul \0 in the middle, a bell \u0007, an escape \u001b[31m.",
  "Nice 👩‍👩‍👧‍👦 family 😀, café and naïve.",
  "Half a pair: \ud83d and the rest.",
  "[[ p3UIfl ]] & <speak> && </speak> %s %n $(reboot) `ls` 'quote' \"double\"",
  "\u202eright to left\u202c, a zero\u200bwidth space and a soft\u00adhyphen.",
];

/**
 * The contract of the speech port as tests.
 * @param factory creates the speech; called once per test
 */
export function speechContract(
  name: string,
  factory: () => Promise<SpeechUnderTest>,
  { describe, test, expect }: ContractRunner,
): void {
  const clause = clausesOf(test, factory, ({ speech }) => speech);
  const neverAborted = new AbortController().signal;
  const speakAll = (subject: SpeechUnderTest, text: string, signal: AbortSignal = neverAborted): Promise<SpokenText> =>
    collect(subject.speech.speak(text, subject.voiceId, signal));

  describe(`${name} fulfils the speech contract`, () => {
    clause("lists its voices, sorted by language; each of them works", async ({ speech, voiceId }) => {
      const voices = await speech.voices();
      const ids = voices.map(({ id }) => id);
      expect(ids.includes(voiceId)).toBe(true);
      expect(new Set(ids).size).toBe(ids.length);
      const languages = voices.map(({ language }) => language);
      expect(languages).toEqual([...languages].sort());
      for (const voice of voices.slice(0, 20)) {
        expect(await speech.voice(voice.id)).toEqual(voice);
        expect(voice.id.startsWith(`${voice.language}-`)).toBe(true);
      }
    });

    clause("names the scripts of a voice by ISO 15924 codes, if it names any", async ({ speech }) => {
      for (const { scripts } of await speech.voices()) {
        if (scripts === undefined) continue;
        expect(scripts.length).toBeGreaterThanOrEqual(1);
        expect(scripts.filter((script) => !/^[A-Z][a-z]{3}$/.test(script))).toEqual([]);
      }
    });

    clause("refuses a voice that does not work, naming it and the fix", async ({ speech, missingVoiceId }) => {
      const speakMissingVoice = async (): Promise<unknown> =>
        collect(speech.speak("Hello.", missingVoiceId, neverAborted));
      for (const error of [await errorOf(speech.voice(missingVoiceId)), await errorOf(speakMissingVoice())]) {
        expect(error instanceof VoiceUnavailable).toBe(true);
        expect((error as Error).message.includes(missingVoiceId)).toBe(true);
        expect((error as Error).message.toLowerCase().includes("to fix it")).toBe(true);
      }
      expect((await errorOf(speech.voice("no voice"))) instanceof VoiceUnavailable).toBe(true);
    });

    clause("speaks a sentence audibly, in about the time that a person takes", async (subject) => {
      const { samples, sampleRate, lengthMs } = await speakAll(subject, subject.sentence);
      expect(sampleRate).toBeGreaterThanOrEqual(8000);
      expect(sampleRate).toBeLessThanOrEqual(48_000);
      expect(lengthMs).toBeGreaterThanOrEqual(WORD_COUNT * MIN_WORD_MS);
      expect(lengthMs).toBeLessThanOrEqual(WORD_COUNT * MAX_WORD_MS);
      expect(rms(samples)).toBeGreaterThanOrEqual(300);
    });

    clause("starts with a sound, not with silence", async (subject) => {
      const { samples, sampleRate } = await speakAll(subject, subject.sentence);
      const opening = samples.subarray(0, (MAX_LEADING_SILENCE_MS * sampleRate) / 1000);
      expect(opening.some((sample) => Math.abs(sample) > 500)).toBe(true);
    });

    clause("yields a long text in pieces, each with samples", async (subject) => {
      const { pieces, lengthMs } = await speakAll(subject, `${subject.sentence} `.repeat(8));
      expect(pieces.length).toBeGreaterThanOrEqual(4);
      expect(pieces.every(({ samples }) => samples.length > 0)).toBe(true);
      expect(lengthMs).toBeGreaterThanOrEqual(8 * WORD_COUNT * MIN_WORD_MS);
      expect(lengthMs).toBeLessThanOrEqual(8 * WORD_COUNT * MAX_WORD_MS);
    });

    clause("speaks a text the same way each time, even concurrently", async (subject) => {
      const [first, second] = await Promise.all([
        speakAll(subject, subject.sentence),
        speakAll(subject, subject.sentence),
      ]);
      const third = await speakAll(subject, subject.sentence);
      expect(second.samples.length).toBe(first.samples.length);
      expect(third.samples.length).toBe(first.samples.length);
    });

    clause("speaks texts that look like markup, options or commands", async (subject) => {
      for (const text of UNUSUAL_TEXTS) {
        const result = await speakAll(subject, text);
        expect(result.lengthMs).toBeLessThanOrEqual(40_000);
        expect(rms(result.samples)).toBeGreaterThanOrEqual(100);
      }
    });

    clause("limits the work for a word of thousands of letters, or emoji only", async (subject) => {
      const costMs = async (text: string): Promise<number> => {
        const startedAt = performance.now();
        const heardMs = await heardMsUntilEnd(subject.speech.speak(text, subject.voiceId, neverAborted), expect);
        expect(heardMs).toBeLessThanOrEqual(MAX_AUDIO_MS);
        return performance.now() - startedAt;
      };
      // Both are measured, so a busy machine affects both.
      const ordinaryMs = await costMs(`${subject.sentence} `.repeat(100).slice(0, 4000));
      for (const text of ["x".repeat(4096), "😀".repeat(2048)])
        expect(await costMs(text)).toBeLessThanOrEqual(MAX_EXTRA_WORK * ordinaryMs);
    });

    clause("counts an emoji as one character, as the creation of a call does", async (subject) => {
      const text = `${subject.sentence} ${"😀".repeat(4000)}`;
      expect(
        await heardMsUntilEnd(subject.speech.speak(text, subject.voiceId, neverAborted), expect),
      ).toBeGreaterThanOrEqual(WORD_COUNT * MIN_WORD_MS);
    });

    clause("refuses a text that is too long or contains nothing to speak", async (subject) => {
      for (const text of ["a ".repeat(3000), " \0\n "]) {
        expect((await errorOf(speakAll(subject, text))) instanceof SpeechFailed).toBe(true);
      }
    });

    clause("stops with the signal's reason, and speaks again afterwards", async (subject) => {
      const reason = new Error("barge-in");
      expect(await errorOf(speakAll(subject, subject.sentence, AbortSignal.abort(reason)))).toBe(reason);

      const abort = new AbortController();
      const longText = `${subject.sentence} `.repeat(40);
      const stopError = errorOf(
        (async () => {
          for await (const _ of subject.speech.speak(longText, subject.voiceId, abort.signal)) abort.abort(reason);
        })(),
      );
      expect(await stopError).toBe(reason);
      const startedAt = performance.now();
      await speakAll(subject, subject.sentence);
      expect(performance.now() - startedAt).toBeLessThanOrEqual(5_000);
    });

    clause("survives a reader that stops", async (subject) => {
      for await (const _ of subject.speech.speak(`${subject.sentence} `.repeat(5), subject.voiceId, neverAborted))
        break;
      expect((await speakAll(subject, subject.sentence)).lengthMs).toBeGreaterThanOrEqual(WORD_COUNT * MIN_WORD_MS);
    });

    clause("does not block the thread that carries audio", async (subject) => {
      await speakAll(subject, "Warm up.");
      const monitor = watchStalls();
      await speakAll(subject, `${subject.sentence} `.repeat(10));
      expect(monitor.maxStallMs()).toBeLessThanOrEqual(MAX_STALL_MS);
    });

    clause("may be warmed up and closed twice, and refuses to speak afterwards", async (subject) => {
      await subject.speech.warmUp?.();
      await subject.speech.warmUp?.();
      await subject.speech.close();
      await subject.speech.close();
      expect((await errorOf(speakAll(subject, subject.sentence))) instanceof SpeechFailed).toBe(true);
    });
  });
}

interface SpokenText {
  readonly pieces: readonly PcmChunk[];
  readonly samples: Int16Array;
  readonly sampleRate: number;
  readonly lengthMs: number;
}

async function collect(stream: AsyncIterable<PcmChunk>): Promise<SpokenText> {
  const pieces = await Array.fromAsync(stream);
  const samples = concatPcm(pieces.map((piece) => piece.samples));
  const sampleRate = pieces[0]?.sampleRate ?? 0;
  return { pieces, samples, sampleRate, lengthMs: (1000 * samples.length) / sampleRate };
}

/** Milliseconds of audio until the stream ends, normally or with a `SpeechFailed`. */
async function heardMsUntilEnd(stream: AsyncIterable<PcmChunk>, expect: ContractRunner["expect"]): Promise<number> {
  let ms = 0;
  try {
    for await (const { samples, sampleRate } of stream) ms += (1000 * samples.length) / sampleRate;
  } catch (error) {
    expect(error instanceof SpeechFailed).toBe(true);
  }
  return ms;
}

/** Error thrown by the work; a string if it throws none. */
async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return "no error";
  } catch (error) {
    return error;
  }
}

function watchStalls(): { maxStallMs(): number } {
  let lastTickAt = performance.now();
  let maxMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    maxMs = Math.max(maxMs, now - lastTickAt);
    lastTickAt = now;
  }, 1);
  return {
    maxStallMs() {
      clearInterval(timer);
      return Math.max(maxMs, performance.now() - lastTickAt);
    },
  };
}
