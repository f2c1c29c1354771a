import { describe, expect, test } from "vitest";
import {
  deepgramTranscription,
  openaiRealtimeTranscription,
  openaiTranscription,
} from "../../adapters/transcription/index.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import type { Transcription } from "../../src/ports/transcription.ts";
import {
  type Saying,
  type TranscriptionUnderTest,
  transcriptionContract,
} from "../../src/testing/transcription-contract.ts";
import { deepgramServer } from "../support/deepgram-server.ts";
import { MeasuringTranscription } from "../support/measuring-transcription.ts";
import { openaiServer } from "../support/openai-server.ts";
import { understandTones } from "../support/understand-tones.ts";

const API_KEY = "sk-very-secret-key";
const runner = { describe, test, expect };

/** The engines here understand tones in place of words. */
const sayTone = (hz: number): Saying => ({
  text: `tone ${hz}`,
  samples: (sampleRate) => tone(hz, 700, sampleRate, 8_000),
});
const sayings = [sayTone(440), sayTone(880)] as const;

/** An engine with its server, which refuses any other key, and which a test can close to cut the engine off. */
function withServer(
  start: typeof openaiServer | typeof deepgramServer,
  engine: (server: { readonly baseUrl: string; readonly apiKey: string }) => Transcription,
) {
  return async (): Promise<TranscriptionUnderTest> => {
    const server = await start({ understand: understandTones, apiKey: API_KEY });
    const { baseUrl } = server;
    return {
      transcription: engine({ baseUrl, apiKey: API_KEY }),
      sayings,
      refused: () => engine({ baseUrl, apiKey: "sk-another-secret" }),
      cutOff: () => server.close(),
      close: () => server.close(),
    };
  };
}

const timeouts = { retryMs: 20, closeMs: 500 };

transcriptionContract(
  "OpenAI's protocol for files",
  withServer(openaiServer, (server) => openaiTranscription({ ...server, model: "whisper", closeMs: 500 })),
  runner,
);
transcriptionContract(
  "OpenAI's realtime protocol",
  withServer(openaiServer, (server) => openaiRealtimeTranscription({ ...server, model: "live", timeouts })),
  runner,
);
transcriptionContract(
  "Deepgram",
  withServer(deepgramServer, (server) => deepgramTranscription({ ...server, model: "nova", timeouts })),
  runner,
);
transcriptionContract(
  "Deepgram, in mu-law",
  withServer(deepgramServer, (server) =>
    deepgramTranscription({ ...server, model: "nova", encoding: "mulaw", timeouts }),
  ),
  runner,
);
transcriptionContract(
  "Deepgram's Flux",
  withServer(deepgramServer, (server) => deepgramTranscription({ ...server, model: "flux", flux: true, timeouts })),
  runner,
);
transcriptionContract(
  "the scripted engine",
  async () => ({ transcription: new MeasuringTranscription(), sayings, close: async () => {} }),
  runner,
  "it is part of the test",
);
