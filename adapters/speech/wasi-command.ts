import { type WasmModule, webAssembly } from "./web-assembly.ts";

/** What a command wrote and how it ended. */
export interface CommandResult {
  readonly exitCode: number;
  /** The contents of the one file that it wrote. */
  readonly file: Uint8Array;
  /** What it printed. */
  readonly log: string;
}

// Numbers of WASI snapshot preview 1 (WebAssembly/WASI, legacy/preview1/docs.md).
const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const INVALID = 28;
const NO_ENTRY = 44;
const NOT_SEEKABLE = 70;
const DIRECTORY = 3;
const REGULAR_FILE = 4;
const CREATE = 1;
/** Descriptors: 0 to 2 are the standard streams, 3 the only directory, 4 the only file. */
const FOLDER = 3;
const FILE = 4;
const LONGEST_LOG = 4096;

class Exited extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/**
 * Runs a WASI command (wasm32-wasi, preview 1) to its end, in memory: it sees its arguments, an empty directory where
 * it may write one file of at most `largestFile` bytes, and nothing of the machine. Blocks while it runs.
 *
 * Throws what the WebAssembly engine throws, such as a trap.
 */
export async function runWasiCommand(
  module: WasmModule,
  args: readonly string[],
  largestFile: number,
): Promise<CommandResult> {
  const encoded = args.map((arg) => new TextEncoder().encode(`${arg}\0`));
  let memory = { buffer: new ArrayBuffer(0) };
  const view = (): DataView => new DataView(memory.buffer);
  const bytes = (at: number, length: number): Uint8Array => new Uint8Array(memory.buffer, at, length);

  let file = new Uint8Array(1 << 16);
  let size = 0;
  let position = 0;
  let log = "";

  const writeFile = (data: Uint8Array): boolean => {
    const end = position + data.length;
    if (end > largestFile) return false;
    if (end > file.length) {
      const larger = new Uint8Array(Math.min(largestFile, Math.max(end, file.length * 2)));
      larger.set(file.subarray(0, size));
      file = larger;
    }
    file.set(data, position);
    position = end;
    size = Math.max(size, end);
    return true;
  };

  /** Visits the pieces of a scattered read or write; stops when `visit` answers undefined. */
  const eachPiece = (
    list: number,
    count: number,
    visit: (piece: Uint8Array) => number | undefined,
  ): number | undefined => {
    let total = 0;
    for (let i = 0; i < count; i++) {
      const done = visit(bytes(view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true)));
      if (done === undefined) return undefined;
      total += done;
    }
    return total;
  };

  const preview1 = {
    args_sizes_get(count: number, length: number): number {
      view().setUint32(count, encoded.length, true);
      view().setUint32(
        length,
        encoded.reduce((sum, arg) => sum + arg.length, 0),
        true,
      );
      return SUCCESS;
    },
    args_get(pointers: number, buffer: number): number {
      let at = buffer;
      for (const [index, arg] of encoded.entries()) {
        view().setUint32(pointers + 4 * index, at, true);
        bytes(at, arg.length).set(arg);
        at += arg.length;
      }
      return SUCCESS;
    },
    clock_time_get(_clock: number, _precision: bigint, result: number): number {
      view().setBigUint64(result, 0n, true);
      return SUCCESS;
    },
    fd_close: (fd: number): number => (fd <= FILE ? SUCCESS : BAD_DESCRIPTOR),
    fd_fdstat_get(fd: number, result: number): number {
      if (fd > FILE) return BAD_DESCRIPTOR;
      bytes(result, 24).fill(0);
      view().setUint8(result, fd === FOLDER ? DIRECTORY : REGULAR_FILE);
      view().setBigUint64(result + 8, 0xffff_ffff_ffff_ffffn, true);
      view().setBigUint64(result + 16, 0xffff_ffff_ffff_ffffn, true);
      return SUCCESS;
    },
    fd_fdstat_set_flags: (): number => SUCCESS,
    fd_prestat_get(fd: number, result: number): number {
      if (fd !== FOLDER) return BAD_DESCRIPTOR;
      view().setUint32(result, 0, true);
      view().setUint32(result + 4, 1, true);
      return SUCCESS;
    },
    fd_prestat_dir_name(fd: number, path: number, length: number): number {
      if (fd !== FOLDER) return BAD_DESCRIPTOR;
      if (length < 1) return INVALID;
      view().setUint8(path, 0x2e);
      return SUCCESS;
    },
    path_open(_dir: number, _look: number, _path: number, _length: number, flags: number, ...rest: unknown[]): number {
      if ((flags & CREATE) === 0 && size === 0) return NO_ENTRY;
      position = 0;
      view().setUint32(rest.at(-1) as number, FILE, true);
      return SUCCESS;
    },
    fd_read(fd: number, list: number, count: number, result: number): number {
      if (fd !== FILE && fd !== 0) return BAD_DESCRIPTOR;
      const total = eachPiece(list, count, (piece) => {
        if (fd === 0) return 0;
        const available = file.subarray(position, Math.min(size, position + piece.length));
        piece.set(available);
        position += available.length;
        return available.length;
      });
      view().setUint32(result, total ?? 0, true);
      return SUCCESS;
    },
    fd_seek(fd: number, offset: bigint, whence: number, result: number): number {
      if (fd !== FILE) return fd < FILE ? NOT_SEEKABLE : BAD_DESCRIPTOR;
      const target = Number(offset) + ([0, position, size][whence] ?? Number.NaN);
      if (!(target >= 0 && target <= largestFile)) return INVALID;
      position = target;
      view().setBigUint64(result, BigInt(target), true);
      return SUCCESS;
    },
    fd_write(fd: number, list: number, count: number, result: number): number {
      if (fd < 1 || fd === FOLDER || fd > FILE) return BAD_DESCRIPTOR;
      const total = eachPiece(list, count, (piece) => {
        if (fd === FILE) return writeFile(piece) ? piece.length : undefined;
        if (log.length < LONGEST_LOG) log += new TextDecoder().decode(piece.slice());
        return piece.length;
      });
      // A command that ignores a full disk would run on for nothing.
      if (total === undefined) throw new RangeError(`The command wrote more than ${largestFile} bytes.`);
      view().setUint32(result, total, true);
      return SUCCESS;
    },
    proc_exit(code: number): never {
      throw new Exited(code);
    },
  };

  const instance = await webAssembly.instantiate(module, { wasi_snapshot_preview1: preview1 });
  memory = instance.exports.memory as typeof memory;
  let exitCode = 0;
  try {
    (instance.exports._start as () => void)();
  } catch (error) {
    if (!(error instanceof Exited)) throw error;
    exitCode = error.code;
  }
  return { exitCode, file: file.subarray(0, size), log: log.slice(0, LONGEST_LOG) };
}
