import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { usableModelFolder } from "../../defaults/data-folder.ts";
import { download, sha256Of, wrongSha256 } from "../../local-models/installation/download.ts";
import { type InstalledModel, installModel, isInstalled } from "../../local-models/installation/install-model.ts";
import {
  archiveName,
  archiveUrl,
  type ModelReleases,
  parseSha256,
  publishedSha256,
} from "../../local-models/installation/model-releases.ts";
import { ENGINE_LICENCE, type KnownModel } from "../../local-models/known-models.ts";
import type { ParsedLine } from "../command.ts";
import { LiveLine } from "../terminal/live-line.ts";
import { downloadBar } from "../terminal/progress-bar.ts";
import { table } from "../terminal/table.ts";
import { print, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { chosenModels } from "./chosen-models.ts";
import { type ListedModel, listModels } from "./listed-models.ts";
import type { ModelPlace } from "./model-place.ts";
import { sizeText } from "./models.ts";

/** An added model, as printed. */
export interface AddedModel extends Pick<ListedModel, "name" | "job" | "voices" | "licence"> {
  /** False if the model was already installed, and has been kept. */
  readonly is_new: boolean;
}

/** Installs the archives named on a command line. */
export async function addArchives(line: ParsedLine, place: ModelPlace, signal: AbortSignal): Promise<AddedModel[]> {
  const archives = [String(line.values.get("from")), ...line.operands];
  const expectedHash = expectedSha256(line, archives.length);
  if (line.values.has("all")) throw new UsageError("--all has no meaning with --from: leave it out");
  const folder = await usableModelFolder(place.data, place.models);
  const addedModels: AddedModel[] = [];
  for (const archive of archives) {
    const rejectArchive = (error: unknown): never => {
      signal.throwIfAborted();
      throw archiveError(archive, error);
    };
    const actualHash = expectedHash === undefined ? undefined : await sha256Of(archive, signal).catch(rejectArchive);
    if (actualHash !== undefined && actualHash !== expectedHash)
      throw new UsageError(wrongSha256(archive, actualHash, expectedHash!));
    const options = { folder, archive, force: line.values.has("force"), signal };
    addedModels.push(await report(line, place, await installModel(options).catch(rejectArchive)));
  }
  return addedModels;
}

function archiveError(archive: string, error: unknown): UsageError {
  const { code, message } = error as { code?: string; message: string };
  const reason = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : message;
  return new UsageError(`${archive} is not installed: ${reason}`, { cause: error });
}

/** Asks a question in the terminal; returns the typed line. */
export type TerminalQuestion = (question: string, signal: AbortSignal) => Promise<string>;

/** Dependencies of {@link addFromReleases}. */
export interface ReleaseAccess {
  readonly releases: ModelReleases;
  /** Undefined without a terminal. */
  readonly ask: TerminalQuestion | undefined;
  readonly signal: AbortSignal;
}

/** Installs the models named on a command line from their releases. */
export async function addFromReleases(
  line: ParsedLine,
  place: ModelPlace,
  { releases, ask, signal }: ReleaseAccess,
): Promise<AddedModel[]> {
  const requestedModels = chosenModels(line.operands, line.values.has("all"));
  const expectedHash = expectedSha256(line, requestedModels.length);
  const force = line.values.has("force");
  const { models } = await listModels(place.folder, place.choice);
  const isPresent = ({ name }: KnownModel): boolean =>
    models.some((model) => model.name === name && model.state !== "available");
  for (const { name } of force ? [] : requestedModels) {
    const { state = "available", reason } = models.find((model) => model.name === name) ?? {};
    const isUnusable = state === "broken" || (state === "available" && (await isInstalled(place.folder, name)));
    if (isUnusable)
      throw new UsageError(
        `${name} is in ${place.folder}, but cannot be used: ${reason ?? "it has no model files"}; --force replaces it`,
      );
  }
  const missingModels = requestedModels.filter((model) => force || !isPresent(model));
  if (missingModels.length > 0) {
    if (ask || !line.values.has("json")) printDownloads(missingModels);
    if (!models.some(({ state }) => state === "installed")) await acceptLicence(line, ask, signal);
  }
  const folder = missingModels.length > 0 ? await usableModelFolder(place.data, place.models) : place.folder;
  const addedModels: AddedModel[] = [];
  for (const model of requestedModels) {
    const result = missingModels.includes(model)
      ? await addFromRelease({
          model,
          releases,
          folder,
          force,
          signal,
          sha256: expectedHash,
          json: line.values.has("json"),
        })
      : { name: model.name, isNew: false };
    addedModels.push(await report(line, place, result));
  }
  return addedModels;
}

interface AddOptions {
  readonly model: KnownModel;
  readonly releases: ModelReleases;
  readonly folder: string;
  readonly force: boolean;
  readonly signal: AbortSignal;
  readonly sha256: string | undefined;
  readonly json: boolean;
}

async function addFromRelease({
  model,
  releases,
  folder,
  force,
  signal,
  json,
  ...options
}: AddOptions): Promise<InstalledModel> {
  const { name } = model;
  const sha256 = options.sha256 ?? (await publishedSha256(releases, model, { signal }));
  let progress = "";
  const bar = json ? undefined : new LiveLine(() => progress);
  try {
    const archive = await download({
      url: archiveUrl(releases, model),
      sha256,
      folder,
      name: archiveName(name),
      signal,
      onProgress: (bytes, total) => {
        progress = downloadBar(bytes, total);
      },
    });
    progress = "unpacking";
    return await installModel({ folder, archive, name, force, signal }).finally(() => rm(archive, { force: true }));
  } finally {
    bar?.stop();
  }
}

/** Parses the option `--sha256`; returns undefined if it is not set. */
function expectedSha256(line: ParsedLine, archives: number): string | undefined {
  const text = line.values.get("sha256");
  if (typeof text !== "string") return undefined;
  const sha256 = parseSha256(text);
  if (sha256 === undefined) throw new UsageError(`--sha256 is "${text}": it must be 64 hexadecimal digits`);
  if (archives > 1) throw new UsageError(`--sha256 is for one archive, and there are ${archives}: add them one by one`);
  return sha256;
}

const UNPUBLISHED_LICENCE = "unknown (its MODEL_CARD or README names it)";
/** Model files that may name the model's licence. */
const LICENCE_FILES = /^(model_card|readme|licen[cs]e)/i;

/** Licence of an installed model, as shown. */
async function licenceText(path: string, licence: string | null): Promise<string> {
  if (licence !== null) return licence;
  const names = await readdir(path).catch(() => []);
  const file = names.sort().find((name) => LICENCE_FILES.test(name));
  return file === undefined ? "unknown (ask its publisher)" : `unknown (read its ${file})`;
}

function printDownloads(models: readonly KnownModel[]): void {
  const rows = models.map(({ name, megabytes, memoryMb, licence }) => [
    name,
    `download ${sizeText(megabytes ?? null)}`,
    `memory ${sizeText(memoryMb ?? null)}`,
    `licence ${licence ?? UNPUBLISHED_LICENCE}`,
  ]);
  for (const row of table(rows)) printToStderr(row);
  printToStderr(`  engine: sherpa-onnx, ${ENGINE_LICENCE}`);
}

/**
 * Asks the user to accept the licences before the first model is installed.
 * @throws {UsageError} the licences were not accepted
 */
async function acceptLicence(line: ParsedLine, ask: TerminalQuestion | undefined, signal: AbortSignal): Promise<void> {
  if (line.values.has("yes")) return;
  if (!ask) throw new UsageError(`the engine's licences (${ENGINE_LICENCE}) must be accepted: add --yes`);
  const answer = await ask("Do you accept the licences of the engine? [y/N] ", signal);
  if (!/^(y|yes)$/i.test(answer.trim())) throw new UsageError("the licences were not accepted; nothing was installed");
}

/** The question function for this process's terminal; undefined if there is no terminal. */
export function askInTerminal(): TerminalQuestion | undefined {
  if (!process.stdin.isTTY) return undefined;
  return async (question, signal) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await terminal.question(question, { signal });
    } finally {
      terminal.close();
    }
  };
}

async function report(
  line: ParsedLine,
  { folder, choice }: ModelPlace,
  { name, isNew }: InstalledModel,
): Promise<AddedModel> {
  const { models, fault } = await listModels(folder, choice);
  const { job = null, voices = [], licence = null } = models.find((model) => model.name === name) ?? {};
  if (!line.values.has("json")) {
    print(isNew ? `${name} is installed in ${folder}` : `${name} is already installed; --force replaces it`);
    if (voices.length > 0) print(`  voices   ${voices.join(", ")}`);
    print(`  licence  ${await licenceText(join(folder, name), licence)}`);
    const recogniserCount = models.filter((model) => model.job === "recogniser" && model.state === "installed").length;
    for (const hint of hintsFor({ name, job, voices }, fault, recogniserCount)) printToStderr(hint);
  }
  return { name, job, voices, licence, is_new: isNew };
}

function hintsFor(
  { name, job, voices }: Pick<ListedModel, "name" | "job" | "voices">,
  fault: string | null,
  recogniserCount: number,
): string[] {
  if (job === "recogniser") {
    const choice = recogniserCount > 1 ? `RINGPORT_TRANSCRIPTION_MODEL=${name} ` : "";
    return [
      `Transcribe agents and streams with it: RINGPORT_TRANSCRIPTION_ENGINE=local ${choice}RINGPORT_STREAM_PREVIEW=1 ringport serve`,
    ];
  }
  if (voices[0] !== undefined) return [`Hear it from a running server: ringport voices --play ${voices[0]}`];
  return [
    fault ??
      `Its voices have no id, because its name has no language (such as -pt_BR-): name one in RINGPORT_SPEECH_MODEL_VOICES`,
  ];
}
