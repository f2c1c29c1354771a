import process from "node:process";
import { DEFAULT_DATA, modelFolder } from "../../defaults/data-folder.ts";
import type { NeuralVoiceChoice } from "../../local-models/neural-voices.ts";
import type { ParsedLine } from "../command.ts";
import { settingsOf } from "../settings/all-settings.ts";
import { readSettings } from "../settings/read-settings.ts";
import type { Setting } from "../settings/setting.ts";

/** The settings by which a command finds a server's models. */
export const MODEL_SETTINGS: readonly Setting[] = settingsOf(
  "data",
  "embedded.neural.models",
  "embedded.neural.voices",
);

/** A server's models, according to its settings. */
export interface ModelPlace {
  readonly data: string;
  /** The option `embedded.neural.models`. */
  readonly models: string | undefined;
  readonly folder: string;
  readonly choice: NeuralVoiceChoice | undefined;
}

/** Finds the model folder that the server would use. */
export function modelPlace(line: ParsedLine): ModelPlace {
  const { data = DEFAULT_DATA, embedded } = readSettings(MODEL_SETTINGS, line, process.env).options;
  const { models, voices: choice } = embedded?.neural ?? {};
  return { data, models, folder: modelFolder(data, models), choice };
}
