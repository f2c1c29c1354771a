import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { neuralSpeech } from "../../../adapters/local-models/neural-speech.ts";
import { neuralTranscription } from "../../../adapters/local-models/neural-transcription.ts";
import { joinSpeech } from "../../../adapters/speech/joined-speech.ts";
import { type Saying, speechContract, transcriptionContract } from "../../../src/testing/index.ts";
import { oncePerFile } from "../../support/file-end.ts";
import { ENGINE_BUILDS, missingEngine, testProcesses } from "../../support/neural.ts";
import { spokenTones, toneModels } from "../../support/tone-models.ts";

const runner = { describe, test, expect };

const saying = (text: string): Saying => ({ text, samples: (sampleRate) => spokenTones(text, sampleRate) });
const sayings = [saying("good morning"), saying("my number is 42")] as const;

describe.skipIf(missingEngine !== undefined)("models of tones", () => {
  for (const { title, packages } of ENGINE_BUILDS) {
    // Loading the engine takes seconds; the contract is about texts, not about the engine's start.
    const processes = oncePerFile(() => testProcesses({ packages: () => packages }));
    const folder = oncePerFile(toneModels);

    speechContract(
      `a natural voice (${title})`,
      async () => ({
        speech: joinSpeech([neuralSpeech({ folder: folder(), processes: processes() })]),
        voiceId: "pt-BR-50",
        sentence: "a consulta foi marcada para amanha as dez e meia.",
        missingVoiceId: "pt-BR-99",
        close: async () => {},
      }),
      runner,
    );

    transcriptionContract(
      `local transcription (${title})`,
      async () => {
        const models = toneModels();
        return {
          transcription: neuralTranscription(processes(), { folder: models }),
          sayings,
          refused: () => neuralTranscription(processes(), { folder: models, model: "another-model" }),
          cutOff: async () => rmSync(models, { recursive: true }),
          close: async () => {},
        };
      },
      runner,
    );
  }
});
