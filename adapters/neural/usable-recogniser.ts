import { errorText } from "../../src/base/error.ts";
import { TranscriptionFailed } from "../../src/ports/transcription.ts";
import { type EngineObstacle, engineObstacle } from "./engine-package.ts";
import type { RecogniserFiles } from "./messages.ts";
import { readModelFolder } from "./model-folder.ts";
import type { SpeechProcesses } from "./speech-processes.ts";

/**
 * The recogniser of a folder, if it can transcribe. Starts no process.
 * @throws {TranscriptionFailed} the message names the fix
 */
export async function usableRecogniser(
  processes: Pick<SpeechProcesses, "packages">,
  folder: string,
  model: string | undefined,
): Promise<RecogniserFiles> {
  const files = await recogniserIn(folder, model);
  const obstacle = engineObstacle(processes.packages());
  if (obstacle) throw new TranscriptionFailed(obstacleText(obstacle));
  return files;
}

/** Reason why a recogniser of a folder cannot transcribe, with the fix; undefined if it can. Starts no process. */
export async function transcriptionFault(folder: string, model: string | undefined): Promise<string | undefined> {
  const obstacle = engineObstacle();
  const fault = await recogniserIn(folder, model).then(() => undefined, errorText);
  const faults = [fault, obstacle && obstacleText(obstacle)].filter((text) => text !== undefined);
  return faults.length === 0 ? undefined : faults.join("; ");
}

function obstacleText({ reason, fix }: EngineObstacle): string {
  return `local transcription cannot be used: the engine ${reason}; to fix it, ${fix}`;
}

/** The recogniser of a folder. @throws {TranscriptionFailed} none, several or a broken one; the message names the fix */
async function recogniserIn(folder: string, name: string | undefined): Promise<RecogniserFiles> {
  const { recognisers, faults } = await readModelFolder(folder);
  const names = recognisers.map((recogniser) => recogniser.name);
  const [recogniser, ...others] = name === undefined ? recognisers : recognisers.filter((model) => model.name === name);
  if (recogniser && others.length === 0) return recogniser.files;
  if (recogniser)
    throw new TranscriptionFailed(
      `there are ${names.length} recognisers in ${folder}; choose one with RINGPORT_TRANSCRIPTION_MODEL: ${names.join(", ")}`,
    );
  const fault = faults.find((fault) => name === undefined || fault.name === name);
  const installedNames = names.length === 0 ? "none" : names.join(", ");
  throw new TranscriptionFailed(
    fault
      ? `the model ${fault.name} cannot be used: ${fault.reason}`
      : `there is no recogniser${name === undefined ? "" : ` "${name}"`} in ${folder} (recognisers: ${installedNames}); "ringport models" lists those to install`,
  );
}
