import { createReadStream } from "node:fs";
import { link, lstat, mkdir, open, realpath, stat, symlink } from "node:fs/promises";
import { join, posix, sep } from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { createTarDecoder, type ParsedTarEntry } from "modern-tar";
import { errorText } from "../../../src/base/error.ts";
import { bunzip2 } from "./bzip2.ts";
import { InstallFault, unreadableFault } from "./install-fault.ts";

/** Limits on an archive. */
export interface UnpackLimits {
  /** Total size of the unpacked files, bytes. */
  readonly bytes: number;
  /** Number of files and folders. */
  readonly files: number;
}

/** Options of {@link unpackArchive}. */
export interface UnpackOptions {
  /** Default: {@link limitsOf} the archive's size. */
  readonly limits?: UnpackLimits | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Opens files for writing. Default: `open` from `node:fs/promises`. */
  readonly openFile?: typeof open | undefined;
}

const MAX_BYTES = 8 * 2 ** 30;
const MAX_FILES = 20_000;
const MAX_DEPTH = 32;
/** Maximum compression ratio of an archive: weights hardly compress, and text by a factor of 10. */
const MAX_RATIO = 25;
const ALWAYS_ALLOWED_BYTES = 256 * 2 ** 20;
const SECTOR = 512;

/** Limits according to an archive's size: a small archive with huge files is an attack. */
export function limitsOf(archiveBytes: number): UnpackLimits {
  const bytes = Math.min(MAX_BYTES, Math.max(ALWAYS_ALLOWED_BYTES, archiveBytes * MAX_RATIO));
  return { bytes, files: MAX_FILES };
}

/**
 * Unpacks a .tar.bz2, .tar.gz or .tar into an empty folder. Writes nothing outside it, whatever the archive contains.
 * Returns the name of the archive's only top-level folder.
 * @throws {InstallFault} the file is not an archive, is damaged, exceeds the limits, or does not consist of one folder
 */
export async function unpackArchive(path: string, targetFolder: string, options: UnpackOptions = {}): Promise<string> {
  const limits = options.limits ?? limitsOf((await stat(path)).size);
  const tree = new UnpackedTree(targetFolder, limits, options.openFile ?? open);
  const bytes = limitBytes(await decompress(path), limits.bytes, options.signal);
  const entries = ReadableStream.from(bytes).pipeThrough(createTarDecoder({ strict: true }));
  try {
    for await (const entry of entries) await tree.add(entry);
    return await tree.finish();
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof InstallFault || isFileSystemError(error)) throw error;
    throw unreadableFault("the archive", errorText(error), error);
  }
}

/** True for a file system error, such as `ENOSPC`. */
function isFileSystemError(error: unknown): boolean {
  return /^E(?!RR_)[A-Z0-9]+$/.test(String((error as { code?: unknown } | undefined)?.code));
}

/** The tar archive in a file; the first bytes determine the compression. */
async function decompress(path: string): Promise<AsyncIterable<Uint8Array>> {
  const head = await headOf(path);
  const startsWith = (text: string, at = 0): boolean => head.subarray(at, at + text.length).toString("latin1") === text;
  if (startsWith("BZh")) return bunzip2(createReadStream(path));
  if (startsWith("\x1f\x8b")) return gunzip(path);
  if (startsWith("ustar", 257)) return createReadStream(path);
  if (head.length === 0) throw new InstallFault("it is empty; download or copy it again");
  throw new InstallFault(
    "it is not a .tar.bz2, .tar.gz or .tar archive; use a model's archive from sherpa-onnx's releases",
  );
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(SECTOR);
    const { bytesRead } = await file.read(head, 0, SECTOR, 0);
    return head.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function* gunzip(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* pipeline(createReadStream(path), createGunzip(), () => {});
  } catch (error) {
    throw unreadableFault("the gzip data", errorText(error), error);
  }
}

/** @throws {InstallFault} there are more bytes than that */
async function* limitBytes(
  source: AsyncIterable<Uint8Array>,
  bytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let sum = 0;
  for await (const piece of source) {
    signal?.throwIfAborted();
    sum += piece.length;
    if (sum > bytes)
      throw new InstallFault(`its files have more than ${bytes} bytes; models of that size are not installed`);
    yield piece;
  }
}

/** An archive's files, unpacked into a folder. Links are created last, so that no file is written through one. */
class UnpackedTree {
  readonly #root: string;
  readonly #limits: UnpackLimits;
  readonly #open: typeof open;
  readonly #links: { readonly path: string; readonly target: string; readonly isHardLink: boolean }[] = [];
  #topFolder: string | undefined;
  #fileCount = 0;

  constructor(root: string, limits: UnpackLimits, openFile: typeof open) {
    this.#root = root;
    this.#limits = limits;
    this.#open = openFile;
  }

  async add({ header, body }: ParsedTarEntry): Promise<void> {
    const { name, type = "file", linkname = "" } = header;
    const parts = partsOf(name);
    // macOS keeps file attributes in separate files.
    if (parts.length === 0 || parts.at(-1)?.startsWith("._")) return body.cancel();
    if (++this.#fileCount > this.#limits.files)
      throw new InstallFault(`it has more than ${this.#limits.files} files; models of that kind are not installed`);
    this.#checkTopFolder(parts, type);
    const path = parts.join("/");
    if (type === "directory") await this.#makeFolder(path);
    else if (type === "symlink" || type === "link")
      this.#links.push({ path, target: targetOf(path, linkname, type), isHardLink: type === "link" });
    else if (type === "file") return this.#write(path, body);
    else throw new InstallFault(`${quotedPath(name)} in it is neither a file nor a folder (${type})`);
    await body.cancel();
  }

  /** Creates the links; returns the name of the top-level folder. */
  async finish(): Promise<string> {
    if (this.#topFolder === undefined) throw new InstallFault("the archive is empty");
    // Folders first, then hard links, then symbolic links, so that no file or folder is created through a link.
    for (const { path } of this.#links) await this.#makeFolder(posix.dirname(path));
    for (const { path, target, isHardLink } of this.#links.toSorted(
      (a, b) => Number(b.isHardLink) - Number(a.isHardLink),
    )) {
      const [from, to] = [join(this.#root, path), join(this.#root, target)];
      if (!isHardLink) await symlink(posix.relative(posix.dirname(path), target), from).catch(entryError(path));
      else if ((await lstat(to).catch(entryError(path))).isFile()) await link(to, from).catch(entryError(path));
      else throw new InstallFault(`${quotedPath(path)} in it does not lead to a file`);
    }
    const topPath = await realpath(join(this.#root, this.#topFolder));
    for (const { path } of this.#links) {
      const realPath = await realpath(join(this.#root, path)).catch(entryError(path));
      if (realPath !== topPath && !realPath.startsWith(topPath + sep)) throw outsideFault(path);
    }
    return this.#topFolder;
  }

  #checkTopFolder(parts: readonly string[], type: string): void {
    const [top = ""] = parts;
    if (parts.length === 1 && type !== "directory")
      throw new InstallFault(
        `${quotedPath(top)} is at its top, outside of a folder; a model's archive has one folder there`,
      );
    this.#topFolder ??= top;
    if (top !== this.#topFolder)
      throw new InstallFault(
        `it has several folders at its top (${this.#topFolder}, ${top}); a model's archive has one`,
      );
  }

  async #makeFolder(path: string): Promise<void> {
    await mkdir(join(this.#root, path), { recursive: true }).catch(entryError(path));
  }

  async #write(path: string, body: ReadableStream<Uint8Array>): Promise<void> {
    await this.#makeFolder(posix.dirname(path));
    const file = await this.#open(join(this.#root, path), "wx").catch(entryError(path));
    try {
      let at = 0;
      for await (const piece of body) {
        for (let from = 0; from < piece.length; ) {
          const { bytesWritten } = await file.write(piece, from, piece.length - from, at);
          from += bytesWritten;
          at += bytesWritten;
        }
      }
    } finally {
      await file.close();
    }
  }
}

/** The parts of a path. @throws {InstallFault} the path leads out of the folder */
function partsOf(path: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused
  if (/[\x00-\x1f\\]/.test(path))
    throw new InstallFault(`${quotedPath(path)} in it has characters that no model's files have`);
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.startsWith("/") || parts.includes("..")) throw outsideFault(path);
  if (parts.length > MAX_DEPTH) throw new InstallFault(`it has folders in more than ${MAX_DEPTH} levels`);
  return parts;
}

/** The target of a link, relative to the root. @throws {InstallFault} the target is outside the top-level folder */
function targetOf(path: string, linkname: string, type: "symlink" | "link"): string {
  const target = posix.join(type === "link" ? "" : posix.dirname(path), linkname);
  if (linkname === "" || linkname.startsWith("/") || target.split("/")[0] !== path.split("/")[0])
    throw outsideFault(`${path} -> ${linkname}`);
  return target;
}

function outsideFault(path: string): InstallFault {
  return new InstallFault(`${quotedPath(path)} in it leads out of its folder; nothing was installed`);
}

function entryError(path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (!["EEXIST", "ENOTDIR", "EISDIR", "ENOENT", "ELOOP", "ENAMETOOLONG"].includes(error.code ?? "")) throw error;
    const reason =
      error.code === "ENOENT" || error.code === "ELOOP"
        ? "leads nowhere"
        : "cannot be created: it exists twice, or its name is too long";
    throw new InstallFault(`${quotedPath(path)} in it ${reason}`, { cause: error });
  };
}

function quotedPath(path: string): string {
  return JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path);
}
