import { didYouMean } from "../../../src/base/nearest.ts";
import { ENGINE_REMEDY, enginePackages } from "../../neural/engine-package.ts";
import { removeModel } from "../../neural/installation/install-model.ts";
import { ENGINE_LICENCE } from "../../neural/known-models.ts";
import type { CommandSpec } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { type ListColumn, printRows } from "../terminal/table.ts";
import { print, printBeside, printJson } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { type ListedModel, listModels } from "./listed-models.ts";
import { MODEL_SETTINGS, modelPlace } from "./model-place.ts";

/** `ringport models`: models that speak or recognise speech on this machine. */
export const models: CommandSpec = {
  summary: "Lists speech models: those to install, and those that are installed.",
  details:
    "Voices sound natural and recognisers make transcripts, on this machine and without an account. Sizes and memory are " +
    "approximate, and the models untested by Ringport.\nringport models add pt-BR                  # installs a voice",
  options: [
    { name: "installed", help: "Only models in the model folder." },
    jsonOption("the folder, the engine and the models"),
  ],
  settings: MODEL_SETTINGS,
  async run(line) {
    const { folder, choice } = modelPlace(line);
    const { models: all, fault } = await listModels(folder, choice);
    const shown = line.values.get("installed") ? all.filter(({ state }) => state !== "available") : all;
    const [engine] = enginePackages();
    if (line.values.get("json")) {
      const view = { package: engine?.name ?? null, licence: ENGINE_LICENCE, fix: engine ? null : ENGINE_REMEDY };
      printJson({ folder, engine: view, models: shown, fault });
      return EXIT.done;
    }
    // A table each: the long names of recognisers would leave the voices no other column.
    const isRecogniser = ({ job }: ListedModel): boolean => job === "recogniser";
    for (const part of [shown.filter((model) => !isRecogniser(model)), shown.filter(isRecogniser)])
      if (part.length > 0) printRows(COLUMNS, part.map(cells));
    printBeside(`Models are in ${folder}${all.some(isPresent) ? "" : ", which has none yet"}`);
    printBeside(`Engine: sherpa-onnx (${ENGINE_LICENCE}); ${engine ? `${engine.name} is installed` : ENGINE_REMEDY}`);
    for (const { name, reason } of shown) if (reason !== null) printBeside(`${name} cannot be used: ${reason}`);
    if (fault !== null) printBeside(fault);
    return EXIT.done;
  },
};

/** `ringport models list`, because other lists are called so. */
export const modelsList: CommandSpec = {
  summary: "The same as ringport models.",
  options: models.options,
  settings: models.settings,
  run: (line) => models.run(line),
};

const COLUMNS: readonly ListColumn[] = [
  { head: "MODEL" },
  { head: "LANGUAGES", dropOrder: 3 },
  { head: "STATE" },
  { head: "VOICES", dropOrder: 1, cut: true },
  { head: "DOWNLOAD", dropOrder: 2 },
  { head: "MEMORY", dropOrder: 4 },
  { head: "LICENCE", dropOrder: 5, cut: true },
];

function cells({ name, job, languages, state, voices, download_mb, memory_mb, licence }: ListedModel): string[] {
  return [
    name,
    languages.join(","),
    state,
    job === "recogniser" ? "(transcribes)" : voices.join(","),
    about(download_mb),
    about(memory_mb),
    licence ?? "unknown",
  ];
}

/** A size of a model, as shown. */
export function about(megabytes: number | null): string {
  return megabytes === null ? "unknown" : `about ${megabytes} MB`;
}

function isPresent({ state }: ListedModel): boolean {
  return state !== "available";
}

/** `ringport models remove`: deletes models. */
export const modelsRemove: CommandSpec = {
  summary: "Deletes a model from the model folder.",
  details: "A server that runs notices it within seconds. The ids of its voices are never given to other voices.",
  operands: [{ name: "MODEL", several: true, completion: "installed-model" }],
  options: [jsonOption("the names of the removed models")],
  settings: MODEL_SETTINGS,
  async run(line) {
    const { folder, choice } = modelPlace(line);
    const present = (await listModels(folder, choice)).models.filter(isPresent).map(({ name }) => name);
    const names = [...new Set(line.operands)];
    const unknown = names.find((name) => !present.includes(name));
    if (unknown !== undefined)
      throw new UsageError(
        `there is no model "${unknown}" in ${folder}${didYouMean(unknown, present)}; ringport models --installed lists them`,
      );
    for (const name of names) {
      await removeModel(folder, name);
      if (!line.values.get("json")) print(`${name} is removed`);
    }
    if (line.values.get("json")) printJson({ removed: names });
    return EXIT.done;
  },
};
