import { afterAll, describe, expect, test } from "vitest";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { embeddedSpeech } from "../../../adapters/speech/all-engines.ts";
import { SpeechScheduler } from "../../../src/application/call-audio/speech/speech-scheduler.ts";
import { voiceSample } from "../../../src/application/call-audio/voice-sample.ts";
import { guardedSpeech } from "../../../src/application/port-guards/guarded-engines.ts";
import { rms } from "../../../src/audio/samples/pcm.ts";
import { decodeWav } from "../../../src/audio/wav/wav.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { countedWorkers } from "../../support/counted-workers.ts";

const pool = embeddedWorkers();
afterAll(() => pool.close());
const { workers, jobs } = countedWorkers(pool);
const speech = guardedSpeech(embeddedSpeech({ pool: workers }), { system: realSystem, log: silentLogger });
const speechScheduler = new SpeechScheduler(speech, realSystem);
const context = { speech, speechScheduler, system: realSystem, log: silentLogger };

describe("voice samples", { timeout: 30_000 }, () => {
  const filesByVoice = new Map<string, string>();

  test.each(["pt-BR-1", "pt-BR-2", "es-ES-1", "en-US-1", "en-US-2", "en-GB-1", "fr-FR-1", "de-DE-1", "eo-001-1"])(
    "of %s are a sentence at 16 kHz, unlike those of other voices",
    async (id) => {
      const file = await voiceSample(context, id);
      const { sampleRate, samples, truncated } = decodeWav(file);
      expect({ sampleRate, truncated }).toEqual({ sampleRate: 16_000, truncated: false });
      const seconds = samples.length / sampleRate;
      expect(seconds).toBeGreaterThan(1.5);
      expect(seconds).toBeLessThan(6);
      expect(rms(samples)).toBeGreaterThan(500);
      const audibleShare = share(samples, sampleRate / 50, 500);
      expect(audibleShare).toBeGreaterThan(0.4);
      const duplicate = [...filesByVoice].find(([, otherFile]) => otherFile === Buffer.from(file).toString("base64"));
      expect(duplicate?.[0]).toBeUndefined();
      filesByVoice.set(id, Buffer.from(file).toString("base64"));
    },
  );

  test("are rendered once for concurrent requests", async () => {
    jobs.length = 0;
    const files = await Promise.all(Array.from({ length: 20 }, () => voiceSample(context, "it-IT-1")));
    files.push(await voiceSample(context, "it-IT-1"));
    expect(new Set(files.map((file) => Buffer.from(file).toString("base64"))).size).toBe(1);
    expect(jobs).toHaveLength(1);
  });
});

/** The share of windows that are louder than a level. */
function share(samples: Int16Array, size: number, level: number): number {
  let loudCount = 0;
  let windows = 0;
  for (let offset = 0; offset + size <= samples.length; offset += size, windows++)
    if (rms(samples.subarray(offset, offset + size)) > level) loudCount++;
  return loudCount / windows;
}
