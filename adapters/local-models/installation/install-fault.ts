import { CodedError } from "../../../src/base/error.ts";

/**
 * Thrown if a model cannot be installed, for example because of a bad archive, a missing checksum or a full disk. The
 * message names the fix.
 */
export class InstallFault extends CodedError {
  override readonly name = "InstallFault";
  readonly code = "model_not_installed";
}

/** The fault for a damaged or incomplete archive. @param part the damaged part, such as `the gzip data` */
export function unreadableFault(part: string, reason: string, cause?: unknown): InstallFault {
  const fix = "the archive is damaged or incomplete, so download or copy it again";
  return new InstallFault(`${part} cannot be read: ${reason.replace(/\.$/, "")}; ${fix}`, { cause });
}

/** Fixes for file system errors, by code. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", "its file system is full; free space, and run the command again"],
  ["EDQUOT", "the quota of this user is used up; free space, and run the command again"],
  ["EACCES", "this user may not write there; run the command as the server's user"],
  ["EPERM", "this user may not write there; run the command as the server's user"],
  ["EROFS", "its file system is read-only; choose another folder with RINGPORT_SPEECH_MODELS"],
]);

/** The error with its fix, if it is a known file system error. @param folder the folder that was being written */
export function withRemedy(error: unknown, folder: string): unknown {
  const remedy = REMEDIES.get((error as { code?: string } | undefined)?.code ?? "");
  return remedy === undefined ? error : new InstallFault(`${folder} cannot be written: ${remedy}`, { cause: error });
}
