import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { resolve } from "node:path";

/**
 * The folder of everything that is kept, made if it is missing, for its owner's eyes only (mode 700). Answers its
 * absolute path.
 * @throws {Error} it cannot be made or written; the message names the fix
 */
export async function dataFolder(path: string): Promise<string> {
  const folder = resolve(path);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { code } = cause as { code?: string };
    const why = REASONS[code ?? ""] ?? (cause as Error).message;
    throw new Error(`the data folder ${folder} cannot be used: ${why}; choose another one with RINGPORT_DATA`, {
      cause,
    });
  }
  return folder;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "its file system is read-only",
  ENOSPC: "its file system is full",
  EEXIST: "there is a file of that name",
  ENOTDIR: "a part of its path is a file",
};
