import { afterAll, describe, expect, test } from "vitest";
import { embeddedWorkers } from "../../adapters/defaults/worker-pool.ts";
import { embeddedSpeech } from "../../adapters/speech/all-engines.ts";
import { SpeechScheduler } from "../../src/application/call-audio/speech/speech-scheduler.ts";
import { voiceSample } from "../../src/application/call-audio/voice-sample.ts";
import { guardedSpeech } from "../../src/application/port-guards/guarded-engines.ts";
import { rms } from "../../src/audio/samples/pcm.ts";
import { decodeWav } from "../../src/audio/wav/wav.ts";
import { silentLogger } from "../../src/ports/logger.ts";
import { realSystem } from "../../src/ports/system.ts";

const pool = embeddedWorkers();
afterAll(() => pool.close());
const speech = guardedSpeech(embeddedSpeech({ pool }), { system: realSystem, log: silentLogger });
const speechScheduler = new SpeechScheduler(speech, realSystem);
const context = { speech, speechScheduler, system: realSystem, log: silentLogger };

/** One voice id for each language and accent that eSpeak NG has. */
const languages = new Map<string, string>();
for (const { id, name, engine } of await speech.voices()) {
  const [language = ""] = name.split("+");
  if (engine === "espeak-ng" && !languages.has(language)) languages.set(language, id);
}

describe("the languages of eSpeak NG", () => {
  test("are more than 120, including the common ones", () => {
    expect(languages.size).toBeGreaterThan(120);
    for (const name of ["roa/pt-BR", "roa/pt", "roa/es", "roa/es-419", "gmw/en-US", "gmw/en", "roa/fr", "gmw/de"])
      expect([...languages.keys()]).toContain(name);
  });

  test.each([...languages])("%s is spoken by the voice %s", async (_, id) => {
    const { samples, sampleRate } = decodeWav(await voiceSample(context, id));
    const seconds = samples.length / sampleRate;
    expect(seconds).toBeGreaterThan(1.2);
    expect(seconds).toBeLessThan(8);
    expect(rms(samples)).toBeGreaterThan(500);
  });
});
