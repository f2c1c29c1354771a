import { randomBytes } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ConfigurationError } from "../../src/base/error.ts";
import type { RingportOptions } from "../../src/options.ts";

/** The default folder for the embedded storage, recordings and key. */
export const DEFAULT_DATA = "./data";
/** The folder for call recordings, in the data folder. */
export const RECORDINGS_FOLDER = "call-recordings";
/** The simulator's folder for the audio that its callees have heard, in the data folder. */
export const SPOOL_FOLDER = "recordings";

/** The folder for speech models. @param models the option `embedded.neural.models` */
export function modelFolder(data: string, models = "models"): string {
  return resolve(data, models);
}

/** A server's folder for speech models. */
export function modelFolderOf({ data = DEFAULT_DATA, embedded }: RingportOptions): string {
  return modelFolder(data, embedded?.neural?.models);
}

/**
 * Creates the folder for speech models if it is missing; returns its path.
 * @throws {ConfigurationError} it cannot be created or written
 */
export async function usableModelFolder(data: string, models?: string): Promise<string> {
  const folder = modelFolder(data, models);
  return ensureUsable(folder, `the model folder ${folder}`, "RINGPORT_SPEECH_MODELS");
}

/** The file of the embedded SQLite. */
export function sqlitePath(data: string): string {
  return resolve(data, "ringport.sqlite");
}

/**
 * Creates the data folder if it is missing, readable only by its owner (mode 700), and returns its absolute path.
 * @throws {ConfigurationError} it cannot be created or written; the message names the fix
 */
export async function dataFolder(path: string): Promise<string> {
  const folder = resolve(path);
  return ensureUsable(folder, `the data folder ${folder}`, "RINGPORT_DATA");
}

async function ensureUsable(folder: string, title: string, setting: string): Promise<string> {
  try {
    await makeFolder(folder);
    await assertWritable(folder);
  } catch (cause) {
    const { code } = cause as { code?: string };
    const reason = REASONS.get(code ?? "") ?? (cause as Error).message;
    const fix = PERMISSION.has(code ?? "")
      ? `run as a user who may, or choose another one with ${setting}`
      : `choose another one with ${setting}`;
    throw new ConfigurationError(`${title} cannot be used: ${reason}; ${fix}`, { cause });
  }
  return folder;
}

const PERMISSION: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);
const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    EACCES: "this user may not write there",
    EPERM: "this user may not write there",
    EROFS: "its file system is read-only",
    ENOSPC: "its file system is full",
    EEXIST: "there is a file of that name",
    ENOTDIR: "a part of its path is a file",
    ENOENT: "it cannot be created there",
  }),
);

/**
 * Creates a folder and its parents. `mkdir(…, { recursive: true })` would retry forever if no folder can be created,
 * such as under /proc.
 */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder, { mode: 0o700 }).catch((retryError: { code?: string }) => {
      if (retryError.code !== "EEXIST") throw retryError;
    });
  }
}

/** Writes a file to check a folder. Its permissions are not enough: a file system may be full or read-only. */
async function assertWritable(folder: string): Promise<void> {
  const path = join(folder, `.write-test-${randomBytes(6).toString("hex")}`);
  const file = await open(path, "wx", 0o600);
  await file.close();
  await rm(path);
}
