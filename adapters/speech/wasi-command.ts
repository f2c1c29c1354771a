import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

/** Exit code and output of a command. */
interface CommandResult {
  readonly exitCode: number;
  /** Contents of the file written by the command. */
  readonly file: Uint8Array;
  /** The command's standard output and standard error. */
  readonly log: string;
}

/** The path under which a command writes its file. */
export const OUTPUT_FILE = "out";
const MAX_LOG_LENGTH = 4096;

/**
 * A WASI command (wasm32-wasi, preview 1) that runs many times, in memory: it has access to its arguments (ASCII) and
 * an empty directory, in which it may write {@link OUTPUT_FILE}, but to no other part of the machine.
 *
 * All runs share one instance, whose memory is reset before each run: with a new instance for each run, the garbage
 * collector let hundreds of MB pile up (each has 20 MB of flite's voices). Only one run at a time.
 */
export class WasiCommand {
  readonly #module: WasmModule;
  readonly #constantBytes: number;
  #instance: Promise<CommandInstance> | undefined;

  private constructor(module: WasmModule, constantBytes: number) {
    this.#module = module;
    this.#constantBytes = constantBytes;
  }

  /** Compiles a command. */
  static async compile(bytes: Uint8Array): Promise<WasiCommand> {
    return new WasiCommand(await webAssembly.compile(bytes), constantBytes(bytes));
  }

  /**
   * Runs the command to its end, and blocks the thread until then. Throws the WebAssembly runtime's errors, such as a
   * trap, and a `RangeError` if the file would be longer than `maxFileBytes`.
   */
  async run(args: readonly string[], maxFileBytes: number): Promise<CommandResult> {
    this.#instance ??= instantiate(this.#module, this.#constantBytes).catch((cause: unknown) => {
      this.#instance = undefined; // the next run tries again, perhaps with more free memory
      throw cause;
    });
    const { wasi, start, memory, initialBytes } = await this.#instance;
    const file = new LimitedFile(maxFileBytes);
    const decoder = new TextDecoder();
    let log = "";
    const output = new ConsoleStdout((bytes) => {
      if (log.length < MAX_LOG_LENGTH) log += decoder.decode(bytes, { stream: true });
    });
    wasi.args = [...args];
    wasi.fds = [new OpenFile(new File([])), output, output, new PreopenDirectory(".", new Map([[OUTPUT_FILE, file]]))];
    const bytes = new Uint8Array(memory.buffer, this.#constantBytes);
    bytes.set(initialBytes);
    bytes.fill(0, initialBytes.length);
    let exitCode = -1;
    try {
      exitCode = start();
    } finally {
      // An aborted run also leaves its stack pointer, which is not part of the memory, changed.
      if (exitCode !== 0) this.#instance = undefined;
      wasi.fds = [];
    }
    return { exitCode, file: file.data, log: log.slice(0, MAX_LOG_LENGTH) };
  }
}

/** An instance of a command, and the changeable part of its memory as it was before the first run. */
interface CommandInstance {
  readonly wasi: WASI;
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly initialBytes: Uint8Array;
  /** Runs the command; returns its exit code. */
  start(): number;
}

async function instantiate(module: WasmModule, constantBytes: number): Promise<CommandInstance> {
  const wasi = new WASI([], [], [], { debug: false });
  const instance = await webAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
  const exports = instance as unknown as Parameters<WASI["start"]>[0];
  const memory = exports.exports.memory as unknown as CommandInstance["memory"];
  const initialBytes = new Uint8Array(memory.buffer, constantBytes).slice();
  return { wasi, memory, initialBytes, start: () => wasi.start(exports) };
}

/** A file that ends the command if it grows too large: a command that ignores a full disk would continue in vain. */
class LimitedFile extends File {
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    super([]);
    this.#maxBytes = maxBytes;
  }

  override path_open(oflags: number, rights: bigint, flags: number): { ret: number; fd_obj: OpenFile } {
    const result = super.path_open(oflags, rights, flags);
    const { fd_obj: openFile } = result;
    const write = openFile.fd_write.bind(openFile);
    openFile.fd_write = (bytes) => {
      if (Number(openFile.file_pos) + bytes.length > this.#maxBytes)
        throw new RangeError(`the command wrote more than ${this.#maxBytes} bytes`);
      return write(bytes);
    };
    return result;
  }
}

const HEADER_BYTES = 8;
const DATA_SECTION = 11;
/** Kind of segment that lies in the first memory at a constant address. */
const ACTIVE = 0;
const I32_CONST = 0x41;

/**
 * Bytes at the start of a module's memory that its program never writes: its read-only data, which `wasm-ld` places
 * first, in its own segment. 0 if the data section looks different (WebAssembly Core Specification, section 5.5.14).
 */
export function constantBytes(module: Uint8Array): number {
  let offset = HEADER_BYTES;
  // Unsigned LEB128, as used for sizes. Addresses are signed, which differs below 2^31 only in the last byte's sign.
  const readNumber = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = module[offset++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (offset < module.length) {
    const section = module[offset++];
    const size = readNumber();
    if (section !== DATA_SECTION) {
      offset += size;
      continue;
    }
    const count = readNumber();
    if (count < 2 || readNumber() !== ACTIVE || module[offset++] !== I32_CONST) return 0;
    const start = readNumber();
    offset++;
    return start + readNumber();
  }
  return 0;
}

/** The part of WebAssembly used in this folder. The project compiles without the browser's types, which declare it. */
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  instantiate(module: WasmModule, imports: Record<string, Record<string, unknown>>): Promise<WasmInstance>;
}

/** Compiled code. */
interface WasmModule {
  readonly wasmModule?: never;
}

interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** The global `WebAssembly` object. */
export const webAssembly: WebAssemblyApi = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
