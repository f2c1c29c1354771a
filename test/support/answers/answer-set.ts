import { espeakJob } from "../../../adapters/speech/espeak-job.ts";
import { fliteJob } from "../../../adapters/speech/flite-job.ts";
import { concatPcm, msToSamples } from "../../../src/audio/samples/pcm.ts";
import { resample } from "../../../src/audio/samples/resample.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import { random } from "../random.ts";
import { type Half, phrasesOf } from "./phrases.ts";
import { join, mix, music, noise, type Sound, samplesOf, silence, sines, withRms } from "./sounds.ts";

/** Audio of one callee, from the answer on. */
export interface Answer {
  /** Kind of the answer, for a table: `short greeting`. */
  readonly kind: string;
  /** The answerer; `nobody` for neither a person nor a machine that takes messages. */
  readonly answerer: "human" | "machine" | "nobody";
  readonly samples: Int16Array;
  readonly sampleRate: number;
  /** End of a person's first complete utterance, ms; undefined without one. */
  readonly greetingEndMs: number | undefined;
  /** Start of the beep, ms; undefined without one. */
  readonly beepMs: number | undefined;
}

interface Speaker {
  readonly language: "en" | "pt";
  readonly engine: "flite" | "espeak";
  readonly voice: string;
}

const SPEAKERS: Readonly<Record<Half, readonly Speaker[]>> = {
  tuning: [
    { language: "en", engine: "flite", voice: "slt" },
    { language: "en", engine: "flite", voice: "kal" },
    { language: "en", engine: "espeak", voice: "gmw/en-US" },
    { language: "pt", engine: "espeak", voice: "roa/pt-BR" },
    { language: "pt", engine: "espeak", voice: "roa/pt-BR+f2" },
  ],
  measuring: [
    { language: "en", engine: "flite", voice: "rms" },
    { language: "en", engine: "flite", voice: "awb" },
    { language: "en", engine: "espeak", voice: "gmw/en+f3" },
    { language: "pt", engine: "espeak", voice: "roa/pt-BR+m3" },
    { language: "pt", engine: "espeak", voice: "roa/pt-BR+f4" },
  ],
};

/** Answers of each kind, percent. */
const KINDS = {
  "person, short greeting": 30,
  "person, greeting of a business": 8,
  "person, after ringing in band": 3,
  "person, asks again": 4,
  "machine, greeting and beep": 27,
  "machine, greeting without a beep": 7,
  "machine, short greeting and beep": 6,
  "machine, beep alone": 2,
  "machine, after ringing in band": 2,
  music: 4,
  "ringing in band": 3,
  silence: 2,
  noise: 2,
} as const;
type Kind = keyof typeof KINDS;

const RATE = 8_000;
const BEEPS = [440, 500, 620, 850, 1_000, 1_004, 1_400, 2_000];
const RINGS: readonly { readonly hertz: readonly number[]; readonly onMs: number; readonly offMs: number }[] = [
  { hertz: [440, 480], onMs: 2_000, offMs: 4_000 },
  { hertz: [425], onMs: 1_000, offMs: 4_000 },
  { hertz: [400, 450], onMs: 400, offMs: 200 },
];

/**
 * Answers to calls, generated at random from speech engines, tones and noises: the same seed gives the same set, and the halves share neither a sentence nor a voice.
 */
export async function answerSet(split: Half, count: number, seed = 1): Promise<Answer[]> {
  const maker = new AnswerMaker(split, random(seed + (split === "tuning" ? 0 : 1_000_003)));
  const answers: Answer[] = [];
  for (const [kind, share] of Object.entries(KINDS))
    for (let n = 0; n < Math.max(1, Math.round((share * count) / 100)); n++)
      answers.push(await maker.make(kind as Kind));
  return answers;
}

class AnswerMaker {
  readonly #split: Half;
  readonly #next: () => number;
  readonly #spokenSounds = new Map<string, Promise<Sound>>();

  constructor(split: Half, next: () => number) {
    this.#split = split;
    this.#next = next;
  }

  async make(kind: Kind): Promise<Answer> {
    const speaker = this.#oneOf(SPEAKERS[this.#split]);
    const { sound, greetingEndMs, beep } = await this.#sound(kind, speaker);
    const level = 10 ** this.#randomBetween(2.7, 3.7); // an RMS from 500 to 5,000
    const length = Math.max(sound.length, msToSamples(12_000, RATE)) + msToSamples(3_000, RATE);
    const samples = samplesOf(
      mix(kind === "noise" ? silence(0, RATE) : withRms(sound, level), this.#roomNoise(kind, length, level)),
    );
    const ms = (at: number | undefined) => (at === undefined ? undefined : Math.round((1_000 * at) / RATE));
    const answerer = kind.startsWith("person") ? "human" : kind.startsWith("machine") ? "machine" : "nobody";
    return { kind, answerer, samples, sampleRate: RATE, greetingEndMs: ms(greetingEndMs), beepMs: ms(beep) };
  }

  /** Background of the answer, usually quiet. */
  #roomNoise(kind: Kind, length: number, level: number): Sound {
    const ms = (1_000 * length) / RATE;
    const isStill = kind !== "noise" && this.#next() < 0.35;
    if (isStill) return silence(ms, RATE);
    const sound = noise(this.#oneOf(["white", "pink", "car"]), ms, RATE, this.#next);
    return withRms(sound, level / 10 ** (this.#randomBetween(15, 35) / 20));
  }

  async #sound(kind: Kind, speaker: Speaker): Promise<{ sound: Sound; greetingEndMs?: number; beep?: number }> {
    const { short, business } = phrasesOf(speaker.language, this.#split);
    const say = (texts: readonly string[]) => this.#say(this.#oneOf(texts), speaker);
    const ringing = (cycles: number) => join(...Array.from({ length: cycles }, () => this.#ring()));
    switch (kind) {
      case "person, short greeting":
        return this.#personAnswer([this.#silence(100, 1_200), await say(short)]);
      case "person, greeting of a business":
        return this.#personAnswer([this.#silence(200, 900), await say(business)]);
      case "person, after ringing in band":
        return this.#personAnswer([ringing(1), this.#silence(100, 500), await say(short)]);
      case "person, asks again": {
        const first = join(this.#silence(100, 900), await say(short));
        const repeated = await say(short);
        return { sound: join(first, this.#silence(1_200, 2_500), repeated), greetingEndMs: first.length };
      }
      case "machine, greeting and beep":
        return this.#machineAnswer(
          [this.#silence(0, 1_500), await this.#greeting(speaker, 1 + Math.floor(4 * this.#next()))],
          true,
        );
      case "machine, greeting without a beep":
        return this.#machineAnswer(
          [this.#silence(0, 1_500), await this.#greeting(speaker, 2 + Math.floor(3 * this.#next()))],
          false,
        );
      case "machine, short greeting and beep":
        return this.#machineAnswer(
          [this.#silence(0, 1_000), await say(phrasesOf(speaker.language, this.#split).closing)],
          true,
        );
      case "machine, beep alone":
        return this.#machineAnswer([this.#silence(300, 2_500)], true);
      case "machine, after ringing in band":
        return this.#machineAnswer([ringing(1), this.#silence(0, 500), await this.#greeting(speaker, 3)], true);
      case "music":
        return {
          sound: join(this.#silence(0, 500), music(this.#randomBetween(9_000, 14_000), RATE, this.#next)),
        };
      case "ringing in band":
        return { sound: ringing(3) };
      case "silence":
      case "noise":
        return { sound: silence(0, RATE) };
    }
  }

  #personAnswer(parts: readonly Sound[]): { sound: Sound; greetingEndMs: number } {
    const sound = join(...parts);
    return { sound, greetingEndMs: sound.length };
  }

  #machineAnswer(parts: readonly Sound[], hasBeep: boolean): { sound: Sound; beep?: number } {
    const greeting = join(...parts);
    if (!hasBeep) return { sound: greeting };
    const before = join(greeting, this.#silence(200, 1_800));
    const tone = sines([this.#oneOf(BEEPS)], this.#randomBetween(180, 900), RATE);
    return {
      sound: join(before, withRms(tone, rmsOf(greeting) * this.#randomBetween(0.6, 1.5))),
      beep: before.length,
    };
  }

  async #greeting(speaker: Speaker, middles: number): Promise<Sound> {
    const { opening, middle, closing } = phrasesOf(speaker.language, this.#split);
    const texts = [this.#oneOf(opening)];
    for (let n = 0; n < middles; n++) texts.push(middle[(n + texts[0]!.length) % middle.length]!);
    texts.push(this.#oneOf(closing));
    const parts: Sound[] = [];
    for (const text of texts) {
      if (parts.length > 0) parts.push(this.#silence(100, 650));
      parts.push(await this.#say(text, speaker));
    }
    return join(...parts);
  }

  #ring(): Sound {
    const { hertz, onMs, offMs } = this.#oneOf(RINGS);
    const ring = join(sines(hertz, onMs, RATE), silence(offMs, RATE));
    return onMs < 1_000 ? join(ring, sines(hertz, onMs, RATE), silence(2_000, RATE)) : ring;
  }

  #say(text: string, speaker: Speaker): Promise<Sound> {
    const key = `${speaker.engine} ${speaker.voice} ${text}`;
    const existing = this.#spokenSounds.get(key);
    if (existing !== undefined) return existing;
    const sound = spoken8k(text, speaker);
    this.#spokenSounds.set(key, sound);
    return sound;
  }

  #silence(fromMs: number, toMs: number): Sound {
    return silence(this.#randomBetween(fromMs, toMs), RATE);
  }

  #randomBetween(from: number, to: number): number {
    return from + (to - from) * this.#next();
  }

  #oneOf<T>(items: readonly T[]): T {
    return items[Math.floor(this.#next() * items.length)]!;
  }
}

function rmsOf(sound: Sound): number {
  let energy = 0;
  let count = 1e-9;
  for (const value of sound) {
    energy += value * value;
    if (value !== 0) count++;
  }
  return Math.sqrt(energy / count) || 1;
}

/** A sentence as telephones carry it, without the silence around it. */
async function spoken8k(text: string, { engine, voice }: Speaker): Promise<Sound> {
  const pieces: PcmChunk[] = [];
  const context = { emit: (piece: PcmChunk) => void pieces.push(piece), isCancelled: () => false };
  await (engine === "flite" ? fliteJob({ text, voice }, context) : espeakJob({ text, voice }, context));
  const samples = resample(concatPcm(pieces.map((piece) => piece.samples)), pieces[0]!.sampleRate, RATE);
  const isAudible = (value: number): boolean => Math.abs(value) > 200;
  const first = samples.findIndex(isAudible);
  return Float64Array.from(samples.subarray(Math.max(0, first), samples.findLastIndex(isAudible) + 1));
}
