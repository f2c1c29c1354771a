import { describe, expect, test } from "vitest";
import { embeddedWorkers } from "../../adapters/defaults/worker-pool.ts";
import { type EmbeddedSpeechOptions, embeddedSpeech } from "../../adapters/speech/all-engines.ts";
import { type SpeechUnderTest, speechContract } from "../../src/testing/speech-contract.ts";
import { atFileEnd, oncePerFile } from "../support/file-end.ts";
import { fuzzRuns } from "../support/fuzz.ts";
import { speechServer } from "../support/speech-server.ts";

/** Tests that take minutes of processor time; they run only if properties are tested with all inputs, on one runtime. */
const COSTLY_TITLES = /^limits the work for a word|^counts an emoji/;
const unlessCostly: typeof test = Object.assign(
  (name: string, work: () => Promise<void>, timeout?: number) =>
    (fuzzRuns < 1_000 && COSTLY_TITLES.test(name) ? test.skip : test)(name, work, timeout),
  test,
);
const runner = { describe, test: unlessCostly, expect };

const ENGLISH_TEXT = "The quick brown fox jumps over the lazy dog today.";
const PORTUGUESE_TEXT = "A sua consulta foi marcada para amanhã às dez horas.";

/** Shared by all tests: workers load engines for most of a second. */
const workers = oncePerFile(() => {
  const pool = embeddedWorkers();
  atFileEnd(() => pool.close());
  return pool;
});

function workerSpeech(voiceId: string, sentence: string, missingVoiceId: string) {
  return async (): Promise<SpeechUnderTest> => {
    const pool = workers();
    return { speech: embeddedSpeech({ pool }), voiceId, sentence, missingVoiceId, close: async () => {} };
  };
}

speechContract("flite", workerSpeech("en-US-1", ENGLISH_TEXT, "en-US-99"), runner);
speechContract("eSpeak NG", workerSpeech("pt-BR-1", PORTUGUESE_TEXT, "pt-BR-99"), runner);

function serverSpeech(http: Partial<EmbeddedSpeechOptions["http"]> = {}) {
  return async (): Promise<SpeechUnderTest> => {
    const server = await speechServer();
    const voices = { "pt-BR-1": { voice: "pf_dora" }, "en-US-1": { voice: "af_heart" } };
    const speech = embeddedSpeech({ http: { baseUrl: server.baseUrl, model: "kokoro", voices, ...http } });
    return {
      speech,
      voiceId: "pt-BR-1",
      sentence: PORTUGUESE_TEXT,
      missingVoiceId: "pt-BR-2",
      close: () => server.close(),
    };
  };
}

speechContract("a speech server", serverSpeech(), runner);
speechContract("a speech server that sends WAV", serverSpeech({ responseFormat: "wav" }), runner);
