import { errorText } from "../../src/base/error.ts";
import { type EngineObstacle, engineObstacle } from "./engine-package.ts";
import { LocalTranscriptionFailed } from "./fixable-fault.ts";
import type { RecogniserFiles } from "./messages.ts";
import { readModelFolder } from "./model-folder.ts";
import type { SpeechProcesses } from "./speech-processes.ts";

/**
 * The recogniser in a folder, if it can transcribe. Starts no process.
 * @throws {LocalTranscriptionFailed} the message names the fix
 */
export async function usableRecogniser(
  processes: Pick<SpeechProcesses, "packages">,
  folder: string,
  model: string | undefined,
): Promise<RecogniserFiles> {
  const files = await recogniserIn(folder, model);
  const obstacle = engineObstacle(processes.packages());
  if (obstacle) throw unusable(obstacle);
  return files;
}

/** Reason why a folder's recogniser cannot transcribe, with the fix; undefined if it can. Starts no process. */
export async function transcriptionFault(folder: string, model: string | undefined): Promise<string | undefined> {
  const obstacle = engineObstacle();
  const fault = await recogniserIn(folder, model).then(() => undefined, errorText);
  const faults = [fault, obstacle && unusable(obstacle).message].filter((text) => text !== undefined);
  return faults.length === 0 ? undefined : faults.join("; ");
}

function unusable(obstacle: EngineObstacle): LocalTranscriptionFailed {
  const reason = `local transcription cannot be used: the engine ${obstacle.reason}`;
  return new LocalTranscriptionFailed(reason, obstacle.fix, `${reason}; to fix it, ${obstacle.fix}`);
}

/**
 * The recogniser in a folder. @throws {LocalTranscriptionFailed} there is none, or several, or it is broken; the
 * message names the fix
 */
async function recogniserIn(folder: string, name: string | undefined): Promise<RecogniserFiles> {
  const { recognisers, faults } = await readModelFolder(folder);
  const names = recognisers.map((recogniser) => recogniser.name);
  const [recogniser, ...others] = name === undefined ? recognisers : recognisers.filter((model) => model.name === name);
  if (recogniser && others.length === 0) return recogniser.files;
  if (recogniser)
    throw new LocalTranscriptionFailed(
      `there are ${names.length} recognisers in ${folder}; choose one with RINGPORT_TRANSCRIPTION_MODEL: ${names.join(", ")}`,
      "set RINGPORT_TRANSCRIPTION_MODEL to one of them",
    );
  const fault = faults.find((fault) => name === undefined || fault.name === name);
  const installedNames = names.length === 0 ? "none" : names.join(", ");
  throw new LocalTranscriptionFailed(
    fault
      ? `the model ${fault.name} cannot be used: ${fault.reason}`
      : `there is no recogniser${name === undefined ? "" : ` "${name}"`} in ${folder} (recognisers: ${installedNames}); "ringport models" lists those to install`,
    undefined,
  );
}
