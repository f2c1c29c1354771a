import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ANALYSIS_MS,
  ANSWER_REASONS,
  AnswerRules,
  type AnswerVerdict,
  FIRST_WORD_MS,
  LONG_GREETING_MS,
} from "../../../src/domain/answering/answering-machine.ts";
import { LINE_TONES, type LineTone } from "../../../src/domain/tones/line-tones.ts";
import { fuzz } from "../../support/fuzz.ts";

type Part =
  | ["voice" | "music" | "quiet", number]
  | ["beep", number, number]
  | ["words", string]
  | ["key"]
  | ["tone", LineTone];

/** Verdicts on a sequence of sounds, in order. */
function verdicts(...parts: readonly Part[]): AnswerVerdict[] {
  const rules = new AnswerRules();
  const emittedVerdicts: (AnswerVerdict | undefined)[] = [];
  let clock = 0;
  for (const part of parts) {
    if (part[0] === "words") emittedVerdicts.push(rules.words(part[1]));
    else if (part[0] === "key") emittedVerdicts.push(rules.key());
    else if (part[0] === "tone") emittedVerdicts.push(rules.tone(part[1]));
    else {
      const ms = part[0] === "beep" ? part[2] : part[1];
      for (let at = 0; at < ms; at += 20) {
        emittedVerdicts.push(rules.onAudio(part[0] === "voice" || part[0] === "music", part[0] === "music", 20));
        clock += 20;
      }
      if (part[0] === "beep") emittedVerdicts.push(rules.beep(part[1], clock - ms));
    }
  }
  return emittedVerdicts.filter((verdict) => verdict !== undefined);
}

const verdictsOn = (...parts: readonly Part[]) =>
  verdicts(...parts).map(({ answeredBy, reason }) => `${answeredBy} ${reason}`);

describe("who answered", () => {
  test("is a person who greets briefly and waits", () => {
    const [verdict] = verdicts(["quiet", 400], ["voice", 600], ["quiet", 2_000]);
    expect(verdict).toMatchObject({ answeredBy: "human", reason: "short_greeting", atMs: 1_660 });
    expect(verdict?.confidence).toBeGreaterThan(0.8);
    expect(verdictsOn(["voice", 4_000], ["quiet", 1_200])).toEqual(["human short_greeting"]);
  });

  test("is a machine that keeps talking, with the pauses between its sentences", () => {
    const [verdict] = verdicts(["voice", 1_000], ["quiet", 500], ["voice", 2_000], ["quiet", 600], ["voice", 4_000]);
    expect(verdict).toMatchObject({ answeredBy: "machine", reason: "long_greeting", atMs: LONG_GREETING_MS });
  });

  test("is a person who presses a key, unless a machine has been heard", () => {
    expect(verdictsOn(["quiet", 7_000], ["key"], ["key"])).toEqual(["unknown silence", "human key"]);
    expect(verdictsOn(["voice", 2_000], ["quiet", 400], ["beep", 440, 300], ["key"])).toEqual(["machine beep"]);
    expect(verdictsOn(["key"], ["voice", 2_000], ["quiet", 400], ["beep", 440, 300])).toEqual([
      "human key",
      "machine beep",
    ]);
  });

  test("is a machine that beeps, even after a greeting as short as a person's", () => {
    expect(verdictsOn(["voice", 2_000], ["quiet", 400], ["beep", 440, 300])).toEqual(["machine beep"]);
    expect(verdictsOn(["voice", 2_000], ["quiet", 1_500], ["beep", 1_000, 300])).toEqual([
      "human short_greeting",
      "machine beep",
    ]);
    expect(verdictsOn(["quiet", 1_000], ["beep", 1_000, 300])).toEqual(["machine beep"]);
  });

  test("is not decided by a tone long after the greeting, nor by ringing before it", () => {
    expect(verdictsOn(["voice", 600], ["quiet", 7_000], ["beep", 1_400, 300])).toEqual(["human short_greeting"]);
    expect(verdictsOn(["beep", 425, 1_000], ["quiet", 1_000])).toEqual([]);
  });

  test("is a machine whose words are a machine's", () => {
    expect(verdictsOn(["voice", 1_000], ["words", "Please leave a message after the tone."])).toEqual([
      "machine words",
    ]);
    expect(verdictsOn(["voice", 1_000], ["words", "Hello, who is calling?"])).toEqual([]);
  });

  test("is a machine whose greeting continues after a pause as long as a person's", () => {
    expect(verdictsOn(["voice", 400], ["quiet", 1_000], ["voice", 7_000])).toEqual([
      "human short_greeting",
      "machine long_greeting",
    ]);
    expect(verdictsOn(["voice", 400], ["quiet", 4_000], ["voice", 7_000])).toEqual(["human short_greeting"]);
  });

  test("is unknown in silence, and in music, until the first word", () => {
    expect(verdicts(["quiet", FIRST_WORD_MS + 20])).toMatchObject([
      { answeredBy: "unknown", reason: "silence", confidence: 0, atMs: FIRST_WORD_MS },
    ]);
    expect(verdictsOn(["music", 7_000])).toEqual(["unknown no_speech"]);
    expect(verdictsOn(["music", 7_000], ["quiet", 1_500], ["voice", 700], ["quiet", 1_000])).toEqual([
      "unknown no_speech",
      "human short_greeting",
    ]);
  });

  test("is a fax machine or the network if its tone is detected, at any time", () => {
    expect(verdictsOn(["tone", "fax"], ["beep", 1_000, 300], ["key"])).toEqual(["fax fax_tone"]);
    expect(verdictsOn(["quiet", 1_000], ["beep", 1_100, 500], ["tone", "fax"])).toEqual([
      "machine beep",
      "fax fax_tone",
    ]);
    expect(verdictsOn(["voice", 600], ["quiet", 1_000], ["tone", "special_information"])).toEqual([
      "human short_greeting",
      "machine network_tone",
    ]);
    expect(verdictsOn(["voice", 7_000], ["tone", "busy"])).toEqual(["machine long_greeting"]);
    expect(verdictsOn(["quiet", 30_000], ["tone", "continuous"])).toEqual(["unknown silence", "machine network_tone"]);
  });

  test("stays a person if the network is busy after they have spoken", () => {
    expect(verdictsOn(["voice", 600], ["quiet", 1_000], ["tone", "busy"])).toEqual(["human short_greeting"]);
    expect(verdictsOn(["voice", 600], ["quiet", 1_000], ["tone", "ringback"])).toEqual(["human short_greeting"]);
    expect(verdictsOn(["tone", "ringback"])).toEqual([]);
  });

  test("is not decided by a click", () => {
    expect(verdictsOn(["voice", 60], ["quiet", 2_000])).toEqual([]);
  });
});

fuzz(
  "any sounds yield few verdicts, in time; only a fax corrects a machine's",
  fc.property(
    fc.array(
      fc.oneof(
        fc.tuple(
          fc.constantFrom("voice" as const, "music" as const, "quiet" as const),
          fc.integer({ min: 0, max: 9_000 }),
        ),
        fc.tuple(fc.constant("beep" as const), fc.double(), fc.integer({ min: 0, max: 3_000 })),
        fc.tuple(fc.constant("tone" as const), fc.constantFrom(...LINE_TONES)),
        fc.tuple(fc.constant("words" as const), fc.oneof(fc.string(), fc.constant("after the tone"))),
      ),
      { maxLength: 12 },
    ),
    (parts) => {
      const emittedVerdicts = verdicts(...(parts as Part[]));
      expect(emittedVerdicts.length).toBeLessThanOrEqual(4);
      for (const [at, { answeredBy, reason, confidence, atMs }] of emittedVerdicts.entries()) {
        expect(ANSWER_REASONS).toContain(reason);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
        if (!reason.endsWith("_tone")) expect(atMs).toBeLessThanOrEqual(ANALYSIS_MS);
        if (answeredBy === "machine")
          expect(emittedVerdicts.slice(at + 1).every((verdict) => verdict.answeredBy === "fax")).toBe(true);
        if (answeredBy === "fax") expect(at).toBe(emittedVerdicts.length - 1);
      }
    },
  ),
);
