import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type EnginePackage, enginePackages } from "../../../adapters/local-models/engine-package.ts";
import { SpeechProcesses, type SpeechProcessesOptions } from "../../../adapters/local-models/speech-processes.ts";
import { inFolder } from "../harness/stored-data.ts";
import { writeRandomModels } from "./random-models.ts";

const TONES = fileURLToPath(new URL("../../fixtures/models", import.meta.url));
/** The folder with both engine packages. */
export const ENGINE_FOLDER: string = fileURLToPath(new URL("../../runtimes/sherpa", import.meta.url));
/** A voice of either set. */
export const VOICE = "en-US-1";

/** The models to measure with, and the package that runs them. */
export interface Side {
  readonly models: "tones" | "full-size";
  readonly engine: EnginePackage["name"];
}

/** A name for rows: `tones, sherpa-onnx-node`. */
export const titleOf = ({ models, engine }: Side): string => `${models}, ${engine}`;

/** Runs a function with a folder of models, and removes the folder. */
export function withModels<T>(models: Side["models"], run: (folder: string) => Promise<T>): Promise<T> {
  return inFolder(async (folder) => {
    if (models === "full-size") writeRandomModels(folder);
    else
      for (const { name } of readdirSync(TONES, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
        cpSync(join(TONES, name), join(folder, name), { recursive: true });
    return run(folder);
  });
}

/** Runs a function with speech processes, and ends them. */
export async function withProcesses<T>(
  { engine }: Side,
  run: (processes: SpeechProcesses) => Promise<T>,
  options: Omit<SpeechProcessesOptions, "packages"> = {},
): Promise<T> {
  const packages = enginePackages(ENGINE_FOLDER).filter(({ name }) => name === engine);
  if (packages.length === 0) throw new Error("npm ci --prefix test/runtimes/sherpa installs the engine");
  const processes = new SpeechProcesses({ ...options, packages: () => packages });
  try {
    return await run(processes);
  } finally {
    processes.close();
  }
}

const WORDS = [
  ..."order number parcel tomorrow morning doctor street garden window seven letter call back please appointment".split(
    " ",
  ),
  ..."today evening table station water city bridge paper season winter summer answer question minute".split(" "),
];

/** A sentence unique to its number, with only characters that the tone voices can speak. @param length minimum number of characters */
export function sentence(number: number, length: number): string {
  let text = `number ${number}`;
  for (let at = number; text.length < length; at++) text += ` ${WORDS[(at * 7 + number) % WORDS.length]}`;
  return `${text}.`;
}
