import { stat } from "node:fs/promises";
import { didYouMean } from "../../../src/base/nearest.ts";
import { ENGINE_REMEDY, enginePackages } from "../../local-models/engine-package.ts";
import { removeModel } from "../../local-models/installation/install-model.ts";
import { ENGINE_LICENCE } from "../../local-models/known-models.ts";
import type { CommandSpec } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { megabytesText } from "../terminal/progress-bar.ts";
import { type ListColumn, printRows } from "../terminal/table.ts";
import { print, printJson, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { type ListedModel, listModels } from "./listed-models.ts";
import { MODEL_SETTINGS, modelPlace } from "./model-place.ts";

/** `ringport models`: models for speech and speech recognition on this machine. */
export const models: CommandSpec = {
  summary: "Lists speech models, installed and available.",
  details:
    "Voices sound natural and recognisers make transcripts, on this machine and without an account. Sizes and memory are " +
    "approximate; Ringport has not tested the models.\nringport models add pt-BR                  # installs a voice",
  options: [
    { name: "installed", help: "Only models in the model folder." },
    jsonOption("the folder, the engine and the models"),
  ],
  settings: MODEL_SETTINGS,
  async run(line) {
    const { folder, choice } = modelPlace(line);
    await assertNoFile(folder);
    const { models: allModels, fault } = await listModels(folder, choice);
    const listedModels = line.values.get("installed") ? allModels.filter(isPresent) : allModels;
    const [engine] = enginePackages();
    if (line.values.get("json")) {
      const view = { package: engine?.name ?? null, licence: ENGINE_LICENCE, fix: engine ? null : ENGINE_REMEDY };
      printJson({ folder, engine: view, models: listedModels, fault });
      return EXIT.done;
    }
    // Two tables: in a single one, the long recogniser names would leave no room for the other columns.
    const isRecogniser = ({ job }: ListedModel): boolean => job === "recogniser";
    for (const part of [listedModels.filter((model) => !isRecogniser(model)), listedModels.filter(isRecogniser)])
      if (part.length > 0) printRows(MODEL_COLUMNS, part.map(cells));
    printToStderr(`Models are in ${folder}${allModels.some(isPresent) ? "" : ", which has none yet"}`);
    printToStderr(`Engine: sherpa-onnx (${ENGINE_LICENCE}); ${engine ? `${engine.name} is installed` : ENGINE_REMEDY}`);
    for (const { name, reason } of listedModels)
      if (reason !== null) printToStderr(`${name} cannot be used: ${reason}`);
    if (fault !== null) printToStderr(fault);
    return EXIT.done;
  },
};

/** @throws {UsageError} the model folder is a file */
async function assertNoFile(folder: string): Promise<void> {
  const isFile = await stat(folder).then(
    (found) => !found.isDirectory(),
    () => false,
  );
  if (isFile)
    throw new UsageError(`the model folder ${folder} is a file; choose another one with RINGPORT_SPEECH_MODELS`);
}

/** `ringport models list`: an alias, for consistency with the other list commands. */
export const modelsList: CommandSpec = {
  summary: "The same as ringport models.",
  options: models.options,
  settings: models.settings,
  run: (line) => models.run(line),
};

/** The columns of the list; a narrow terminal keeps names, languages and licences. */
export const MODEL_COLUMNS: readonly ListColumn[] = [
  { head: "MODEL" },
  { head: "LANGUAGES" },
  { head: "STATE", dropOrder: 1 },
  { head: "VOICES", dropOrder: 2, cut: true },
  { head: "SIZE", dropOrder: 3 },
  { head: "MEMORY", dropOrder: 4 },
  { head: "LICENCE", cut: true },
];

function cells({ name, job, languages, state, voices, memory_mb, licence, ...sizes }: ListedModel): string[] {
  return [
    name,
    languages.join(","),
    state,
    job === "recogniser" ? "(transcribes)" : voices.join(","),
    sizes.installed_bytes === null ? sizeText(sizes.download_mb) : megabytesText(sizes.installed_bytes),
    sizeText(memory_mb),
    licence ?? "unknown",
  ];
}

/** A model's size, as shown. */
export function sizeText(megabytes: number | null): string {
  return megabytes === null ? "unknown" : `about ${megabytes} MB`;
}

function isPresent({ state }: ListedModel): boolean {
  return state !== "available";
}

/** `ringport models remove`: deletes models. */
export const modelsRemove: CommandSpec = {
  summary: "Deletes a model from the model folder.",
  details: "A running server notices it within seconds. The ids of its voices are never given to other voices.",
  operands: [{ name: "MODEL", isRepeatable: true, completion: "installed-model" }],
  options: [jsonOption("the names of the removed models")],
  settings: MODEL_SETTINGS,
  async run(line) {
    const { folder, choice } = modelPlace(line);
    const installedNames = (await listModels(folder, choice)).models.filter(isPresent).map(({ name }) => name);
    const names = [...new Set(line.operands)];
    const unknownName = names.find((name) => !installedNames.includes(name));
    if (unknownName !== undefined)
      throw new UsageError(
        `there is no model "${unknownName}" in ${folder}${didYouMean(unknownName, installedNames)}; ringport models --installed lists them`,
      );
    for (const name of names) {
      await removeModel(folder, name);
      if (!line.values.get("json")) print(`${name} is removed`);
    }
    if (line.values.get("json")) printJson({ removed: names });
    return EXIT.done;
  },
};
