import { createRingport } from "ringport";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { type EmbeddedSpeechOptions, embeddedSpeech } from "../../../adapters/speech/all-engines.ts";
import type { SpeechWorkers } from "../../../adapters/speech/speech-jobs.ts";
import { SpeechScheduler } from "../../../src/application/call-audio/speech/speech-scheduler.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import type { Speech } from "../../../src/ports/speech.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { countedWorkers } from "../../support/counted-workers.ts";
import { type SpeechServer, speechServer } from "../../support/speech-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const neverAborted = new AbortController().signal;
const pool = embeddedWorkers();
afterAll(() => pool.close());

/** Speaks a text to its end; returns the number of bytes. */
async function play(speech: Speech, text: string, voiceId: string): Promise<number> {
  let bytes = 0;
  for await (const { samples } of speech.speak(text, voiceId, neverAborted)) bytes += samples.byteLength;
  return bytes;
}

test("calls with the same text share one rendering; another text is rendered again", {
  timeout: 60_000,
}, async () => {
  const CALLS = 20;
  const text = "The museum is closed on Monday.";
  const { workers, jobs } = countedWorkers(pool);
  const ringport = createRingport({
    data: temporaryFolder("spoken-once"),
    publicUrl: "http://ringport.test",
    speech: embeddedSpeech({ pool: workers }),
    embedded: { simulatorTimeScale: 0.05, synchronous: "NORMAL" },
  });
  const principal = { userId: "usr_me" };
  const createLinked = async (name: string): Promise<string> => {
    const { id } = await ringport.instances.create(principal, { name });
    const { payload } = await ringport.instances.configure(principal, id);
    await ringport.fetch(new Request(payload, { method: "POST" }));
    return id;
  };
  const call = async (instanceId: string, message: string): Promise<number> => {
    const target = { phoneNumber: "+12025550100" };
    const tts = { text: message, voiceId: "en-US-1" };
    const { id } = await ringport.calls.create(principal, { instanceId, type: "FIXED_TTS", target, tts });
    const { outcome } = await ringport.calls.wait(principal, id);
    expect(outcome).toMatchObject({ reason: "message_played", heardRatio: 1 });
    return outcome?.heardMs ?? 0;
  };
  try {
    const instances: string[] = [];
    for (let n = 0; n < CALLS; n++) instances.push(await createLinked(`Desk ${n}`));
    jobs.length = 0; // warming up also speaks
    const heardDurations = await Promise.all(instances.map((id) => call(id, text)));
    expect(new Set(heardDurations).size).toBe(1);
    heardDurations.push(await call(instances[0]!, text));
    expect(jobs.filter((job) => job.text === text)).toEqual([{ text, voice: "slt" }]);
    await call(instances[1]!, `${text} And on Tuesday.`);
    expect(jobs.filter((job) => job.text.startsWith(text))).toHaveLength(2);
  } finally {
    await ringport.stop({ drainMs: 0 });
  }
});

describe("the embedded engines' speech cache", () => {
  const MIB = 1024 * 1024;
  const renderedTexts: string[] = [];
  /** Workers with one voice that renders ten MiB for any text. */
  const slowWorkers: SpeechWorkers = {
    run: async function* (job: { kind: string; text?: string }): AsyncGenerator<PcmChunk | object> {
      if (job.kind === "installed") return yield { flite: true, espeak: undefined };
      renderedTexts.push(job.text ?? "");
      for (let mib = 0; mib < 10; mib++) yield { sampleRate: 16_000, samples: new Int16Array(MIB / 2).fill(1000) };
    } as unknown as SpeechWorkers["run"],
  };

  test("holds 64 MiB by default and evicts the least recently used text", async () => {
    const speech = embeddedSpeech({ pool: slowWorkers });
    for (const text of ["one", "two", "three", "four", "five", "six", "one"]) await play(speech, text, "en-US-1");
    expect(renderedTexts.splice(0)).toEqual(["one", "two", "three", "four", "five", "six"]);
    await play(speech, "seven", "en-US-1"); // 70 MiB: "two" is the least recently used
    await play(speech, "one", "en-US-1");
    await play(speech, "two", "en-US-1");
    expect(renderedTexts.splice(0)).toEqual(["seven", "two"]);
  });
});

describe("requests to a speech server", () => {
  let server: SpeechServer;
  beforeEach(async () => {
    server = await speechServer();
  });
  afterEach(() => server.close());
  const speechOverHttp = (http: Partial<EmbeddedSpeechOptions["http"]>) =>
    embeddedSpeech({ http: { baseUrl: server.baseUrl, model: "m", voices: { "pt-BR-1": { voice: "v" } }, ...http } });

  test("are made once per text and voice", async () => {
    const speech = speechOverHttp({
      voices: {
        "pt-BR-1": { voice: "v" },
        "pt-BR-2": { voice: "w" },
        "pt-BR-3": { voice: "v", speed: 1.5 },
        "pt-BR-4": { voice: "v", model: "n" },
      },
    });
    for (const id of ["pt-BR-1", "pt-BR-2", "pt-BR-3", "pt-BR-4", "pt-BR-1"]) await play(speech, "Bom dia.", id);
    expect(server.requests).toHaveLength(4);
    await play(speech, "Boa tarde.", "pt-BR-1");
    expect(server.requests).toHaveLength(5);
  });

  test("are made once for each slice of a shared text, at most four at once", async () => {
    const speech = speechOverHttp({});
    const scheduler = new SpeechScheduler(speech, realSystem);
    const sentences = Array.from({ length: 30 }, (_, n) => `Esta é a frase ${n} de uma mensagem longa do museu.`);
    let maxOpen = 0;
    const lengths = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const demand = { userId: `user ${n % 3}`, instanceId: String(n), isPlaying: false, aheadMs: 0 };
        let bytes = 0;
        for await (const { samples } of scheduler.speak(sentences.join(" "), "pt-BR-1", demand, neverAborted)) {
          bytes += samples.byteLength;
          maxOpen = Math.max(maxOpen, server.openCount);
        }
        return bytes;
      }),
    );
    expect(new Set(lengths).size).toBe(1);
    const inputs = server.requests.map(({ body }) => String(body.input).trim());
    expect(inputs.join(" ")).toBe(sentences.join(" "));
    expect(inputs.length).toBeGreaterThan(5);
    expect(maxOpen).toBeLessThanOrEqual(4);
    await speech.close();
  });

  test("are made again after a failure", async () => {
    const speech = speechOverHttp({});
    server.fail("drop");
    await expect(play(speech, "Uma frase mais longa do que as outras.", "pt-BR-1")).rejects.toThrow("speech server");
    expect(await play(speech, "Uma frase mais longa do que as outras.", "pt-BR-1")).toBeGreaterThan(10_000);
    expect(server.requests).toHaveLength(2);
  });
});
