import { ConfigurationError } from "../../src/base/error.ts";
import type { TranscriptionTuning } from "../../src/options.ts";
import type { Transcription } from "../../src/ports/transcription.ts";
import { deepgramTranscription } from "./deepgram.ts";
import { openaiTranscription } from "./openai-batch.ts";
import { openaiRealtimeTranscription } from "./openai-realtime.ts";

/**
 * The configured engine.
 * @param local creates the engine on this machine
 * @throws {ConfigurationError} the configuration is incomplete; the message names the fix
 */
export function configuredTranscription(
  tuning: TranscriptionTuning,
  local: () => Promise<Transcription>,
): Transcription | Promise<Transcription> {
  const { engine, apiKey = "", baseUrl, model, ...otherOptions } = tuning;
  if (engine === "local") return local();
  if (baseUrl === undefined || model === undefined)
    throw new ConfigurationError(
      `${engine} needs a server and a model: set embedded.transcription.baseUrl and embedded.transcription.model`,
    );
  const server = { ...otherOptions, baseUrl, model };
  switch (engine) {
    case "openai":
      return openaiTranscription({ ...server, apiKey: tuning.apiKey });
    case "openai-realtime":
      return openaiRealtimeTranscription({ ...server, apiKey: tuning.apiKey });
    case "deepgram":
    case "deepgram-flux":
      if (apiKey === "") throw new ConfigurationError(`${engine} needs a key: set embedded.transcription.apiKey`);
      return deepgramTranscription({ ...server, apiKey, flux: engine === "deepgram-flux" });
  }
}
