import { mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readModelFolder } from "../model-folder.ts";
import { InstallFault, withRemedy } from "./install-fault.ts";
import { type UnpackOptions, unpackArchive } from "./unpack-archive.ts";

/** Options of {@link installModel}. */
export interface InstallModelOptions extends UnpackOptions {
  /** The model folder; it exists. */
  readonly folder: string;
  /** Path of the archive. */
  readonly archive: string;
  /** Name of the model's folder. Default: the name of the folder in the archive. */
  readonly name?: string | undefined;
  /** Replaces an installed model. */
  readonly force?: boolean | undefined;
}

/** Result of {@link installModel}. */
export interface InstalledModel {
  readonly name: string;
  /** False if the model was already installed and is unchanged. */
  readonly isNew: boolean;
}

/** Prefix of unfinished folders: names that begin with a dot are not read as models. */
const DRAFT = ".draft-";
/** Age at which a draft or a partial download is considered abandoned, ms. */
const STALE_MS = 7 * 24 * 3_600_000;
const NAME = /^[A-Za-z0-9][\w.+-]{0,127}$/;

/** True if the text can be a model's name. */
export function isModelName(name: string): boolean {
  return NAME.test(name);
}

/** True if a model folder has a folder of this name. */
export async function isInstalled(folder: string, name: string): Promise<boolean> {
  return stat(join(folder, name)).then(
    () => true,
    () => false,
  );
}

/**
 * Installs the model in an archive: unpacks it next to the models, checks it as the server does, and moves it into
 * place. An installed model stays, unless `force` is set. A failure leaves nothing behind.
 * @throws {InstallFault} the archive or the model cannot be used
 */
export async function installModel(input: InstallModelOptions): Promise<InstalledModel> {
  const { folder, archive, name, force = false, ...options } = input;
  await deleteStaleDrafts(folder);
  const draft = await mkdtemp(join(folder, DRAFT)).catch(rethrowFor(folder));
  try {
    const topFolder = await unpackArchive(archive, draft, options);
    const model = name ?? topFolder;
    if (!isModelName(model))
      throw new InstallFault(`the folder in it is called ${JSON.stringify(model)}, which is not a valid model name`);
    if (model !== topFolder) await rename(join(draft, topFolder), join(draft, model));
    await checkModel(draft, model);
    options.signal?.throwIfAborted();
    return { name: model, isNew: await moveIntoPlace(folder, draft, model, force) };
  } catch (error) {
    throw withRemedy(error, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Deletes a model's folder, which disappears from the model folder immediately. */
export async function removeModel(folder: string, name: string): Promise<void> {
  const draft = await mkdtemp(join(folder, DRAFT)).catch(rethrowFor(folder));
  try {
    await rename(join(folder, name), join(draft, name));
  } catch (error) {
    throw withRemedy(error, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** A model's licence according to its card; undefined if the card does not name one. */
export async function licenceByCard(model: string): Promise<string | undefined> {
  const card = await readFile(join(model, "MODEL_CARD"), "utf8").catch(() => "");
  return /^[\s*-]*licen[cs]e:\s*(\S.{0,100})/im.exec(card.slice(0, 100_000))?.[1]?.trim();
}

function rethrowFor(folder: string): (error: unknown) => never {
  return (error) => {
    throw withRemedy(error, folder);
  };
}

async function checkModel(draft: string, name: string): Promise<void> {
  const { voices, recognisers, faults } = await readModelFolder(draft);
  const [fault] = faults;
  if (fault) throw new InstallFault(`the model ${name} cannot be used: ${fault.reason}`);
  if (voices.length + recognisers.length === 0)
    throw new InstallFault(`${name} has no model in its folder: an .onnx file and its tokens.txt are expected there`);
}

/**
 * Moves the model into place; if that fails, restores the old one. Returns false if an installed model has been kept.
 */
async function moveIntoPlace(folder: string, draft: string, name: string, force: boolean): Promise<boolean> {
  const [modelPath, oldPath] = [join(folder, name), join(draft, `old-${name}`)];
  const wasInstalled = await isInstalled(folder, name);
  if (wasInstalled && !force) return false;
  if (wasInstalled) await rename(modelPath, oldPath);
  try {
    await rename(join(draft, name), modelPath);
    return true;
  } catch (error) {
    if (wasInstalled) await rename(oldPath, modelPath);
    // Another process was faster.
    else if (await isInstalled(folder, name)) return false;
    throw error;
  }
}

/** Deletes abandoned downloads, and files left by killed processes. */
async function deleteStaleDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(DRAFT) || /^\..*\.part$/.test(name))) {
    const path = join(folder, name);
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > STALE_MS) await rm(path, { recursive: true, force: true });
  }
}
