import { statSync } from "node:fs";

/** A model's folder, and its files by the engine's names. */
interface ModelFiles {
  readonly folder: string;
  readonly paths: Readonly<Record<string, string>>;
}

/**
 * Models that have crashed their process. Such a model is not loaded again until its files have changed: it may have
 * been incomplete, and be complete now.
 */
export class FaultyModels {
  /** The files' versions when a process was last asked to load them, by folder. */
  readonly #versions = new Map<string, string>();
  readonly #faults = new Map<string, { readonly reason: string; readonly version: string | undefined }>();

  /** Records the version of a model that a process is about to load. */
  recordLoading({ folder, paths }: ModelFiles): void {
    this.#versions.set(folder, versionOf(paths));
  }

  /** Records that the model in this folder has crashed its process. */
  add(folder: string, reason: string): void {
    this.#faults.set(folder, { reason, version: this.#versions.get(folder) });
  }

  /** Reason why a model must not be loaded; undefined if it may be. */
  faultOf({ folder, paths }: ModelFiles): string | undefined {
    const fault = this.#faults.get(folder);
    if (fault === undefined || fault.version === versionOf(paths)) return fault?.reason;
    this.#faults.delete(folder);
    return undefined;
  }
}

/** Sizes and times of the files that exist. */
function versionOf(paths: ModelFiles["paths"]): string {
  const files = Object.values(paths).map((path) => statSync(path, { throwIfNoEntry: false }));
  return files.map((file) => `${file?.size} ${file?.mtimeMs}`).join();
}
