import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConnectionLost, type HttpGetOptions, type HttpResponse, httpGet } from "./http-get.ts";
import { InstallFault, withRemedy } from "./install-fault.ts";

/** Options of {@link download}. */
export interface DownloadOptions extends Omit<HttpGetOptions, "headers"> {
  readonly url: URL;
  /** Expected SHA-256 of the file, in lower case. */
  readonly sha256: string;
  /** The model folder; it exists. */
  readonly folder: string;
  /** Name of the file. */
  readonly name: string;
  /** Called while bytes arrive. @param total undefined if unknown */
  readonly onProgress?: (bytes: number, total: number | undefined) => void;
  /** Pause before another attempt, ms. Default: 2,000. */
  readonly retryMs?: number;
  /** Opens the file for writing. Default: `open` from `node:fs/promises`. */
  readonly openFile?: typeof open | undefined;
}

const MAX_BYTES = 8 * 2 ** 30;
/** Maximum number of consecutive attempts without a new byte. */
const MAX_ATTEMPTS = 3;
/** Time without growth after which a partial file is considered abandoned, ms. */
const IDLE_MS = 60_000;

/**
 * Downloads a file into a folder, continuing any interrupted download. Returns the file's path; the caller deletes the
 * file.
 * @throws {InstallFault} the file cannot be downloaded, or has another checksum
 */
export async function download(options: DownloadOptions): Promise<string> {
  const { folder, name, sha256, signal } = options;
  const path = await claimPartial(folder, name);
  try {
    const resumedBytes = await sizeOf(path);
    await fetchAll(options, path);
    let actualHash = await sha256Of(path, signal);
    if (actualHash !== sha256 && resumedBytes > 0) {
      // The beginning may come from an older file.
      await rm(path);
      await fetchAll(options, path);
      actualHash = await sha256Of(path, signal);
    }
    if (actualHash !== sha256) {
      await rm(path);
      throw new InstallFault(wrongSha256(name, actualHash, sha256));
    }
    return path;
  } catch (error) {
    // Keeps the partial file only if another attempt can use it: the disk may be full.
    const isUseful = (signal?.aborted || (error as Error).cause instanceof ConnectionLost) && (await sizeOf(path)) > 0;
    if (isUseful) await rename(path, partialPath(folder, name));
    else await rm(path, { force: true });
    throw withRemedy(error, folder);
  }
}

/** Error message for a file with the wrong checksum. */
export function wrongSha256(name: string, actual: string, expected: string): string {
  return `the SHA-256 of ${name} is ${actual}, but must be ${expected}: the file is damaged, or not the published one; nothing was installed`;
}

/** The SHA-256 of a file, in lower case. */
export async function sha256Of(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path, { signal })) hash.update(piece);
  return hash.digest("hex");
}

function partialPath(folder: string, name: string, owner = ""): string {
  return join(folder, `.${name}${owner === "" ? "" : `.${owner}`}.part`);
}

/**
 * Claims the partial file of an earlier download for this process; if there is none, returns the path of a new file.
 */
async function claimPartial(folder: string, name: string): Promise<string> {
  const ownPath = partialPath(folder, name, crypto.randomUUID());
  const files = await readdir(folder);
  for (const file of files.filter((file) => file.startsWith(`.${name}.`) && file.endsWith(".part"))) {
    const path = join(folder, file);
    const isReleased = path === partialPath(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (!isReleased && Date.now() - mtimeMs < IDLE_MS) continue;
    const isClaimed = await rename(path, ownPath).then(
      () => true,
      () => false,
    );
    if (isClaimed) break;
  }
  return ownPath;
}

async function fetchAll(options: DownloadOptions, path: string): Promise<void> {
  const { signal, retryMs = 2_000 } = options;
  for (let attempts = 1; ; attempts++) {
    const sizeBefore = await sizeOf(path);
    try {
      return await fetchRemainder(options, path, sizeBefore);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      if ((await sizeOf(path)) > sizeBefore) attempts = 0;
      if (attempts === MAX_ATTEMPTS)
        throw new InstallFault(
          `${error.message}; run the command again to continue, or download ${options.url} yourself and add it with --from FILE`,
          { cause: error },
        );
      await sleep(retryMs, undefined, { signal });
    }
  }
}

/** Downloads the missing part of a file. @throws {ConnectionLost} another attempt may help */
async function fetchRemainder(options: DownloadOptions, path: string, offset: number): Promise<void> {
  const { url, onProgress } = options;
  const headers: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
  const response = await httpGet(url, { ...options, headers });
  const { status } = response;
  if (status === 416 || (status === 206 && rangeOf(response).start !== offset)) {
    response.discard();
    // The server's file is no longer than the partial one.
    if (status === 416 && rangeOf(response).total === offset) return;
    await rm(path);
    return fetchRemainder(options, path, 0);
  }
  if (status !== 200 && status !== 206) {
    response.discard();
    const fault = `${url} responded with ${status}`;
    if (status === 429 || status >= 500) throw new ConnectionLost(fault);
    throw new InstallFault(status === 404 ? `there is no ${url}; check the name` : fault);
  }
  const length = Number(response.header("content-length") ?? Number.NaN);
  const start = status === 206 ? offset : 0;
  const total = Number.isSafeInteger(length) ? start + length : undefined;
  const file = await (options.openFile ?? open)(path, start > 0 ? "r+" : "w").catch((error: unknown) => {
    response.discard();
    throw error;
  });
  const size = await append(file, start, response, (bytes) => onProgress?.(bytes, total)).finally(() => file.close());
  if (total !== undefined && size < total)
    throw new ConnectionLost(`${url.host} ended the download after ${size} of ${total} bytes`);
}

/** Appends a response to a file of this size; returns the file's new size. */
async function append(
  file: FileHandle,
  start: number,
  response: HttpResponse,
  onBytes: (bytes: number) => void,
): Promise<number> {
  let at = start;
  for await (const piece of response.body) {
    if (at + piece.length > MAX_BYTES) throw new InstallFault(`the download has more than ${MAX_BYTES} bytes`);
    for (let from = 0; from < piece.length; ) {
      const { bytesWritten } = await file.write(piece, from, piece.length - from, at);
      from += bytesWritten;
      at += bytesWritten;
    }
    onBytes(at);
  }
  return at;
}

/** Start and total of a `Content-Range`, such as `bytes 100-199/200`. */
function rangeOf(response: HttpResponse): { readonly start: number; readonly total: number } {
  const [, start, total] = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(response.header("content-range") ?? "") ?? [];
  return { start: Number(start), total: Number(total) };
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
