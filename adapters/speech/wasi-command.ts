import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";
import { type WasmModule, webAssembly } from "./web-assembly.ts";

/** How a command ended, and its output. */
export interface CommandResult {
  readonly exitCode: number;
  /** The contents of its file. */
  readonly file: Uint8Array;
  /** Its standard output and standard error. */
  readonly log: string;
}

/** The path under which a command writes its file. */
export const OUTPUT_FILE = "out";
const MAX_LOG_LENGTH = 4096;

/**
 * Runs a WASI command (wasm32-wasi, preview 1) to its end, in memory: it sees its arguments (ASCII), an empty directory
 * in which it may write {@link OUTPUT_FILE}, of at most `maxFileBytes`, and nothing of the machine. Blocks while it runs.
 *
 * Throws the errors of the WebAssembly runtime, such as a trap.
 */
export async function runWasiCommand(
  module: WasmModule,
  args: readonly string[],
  maxFileBytes: number,
): Promise<CommandResult> {
  const file = new LimitedFile(maxFileBytes);
  const decoder = new TextDecoder();
  let log = "";
  const output = new ConsoleStdout((bytes) => {
    if (log.length < MAX_LOG_LENGTH) log += decoder.decode(bytes, { stream: true });
  });
  const input = new OpenFile(new File([]));
  const directory = new PreopenDirectory(".", new Map([[OUTPUT_FILE, file]]));
  const wasi = new WASI([...args], [], [input, output, output, directory], { debug: false });
  const instance = await webAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
  const exitCode = wasi.start(instance as unknown as Parameters<WASI["start"]>[0]);
  return { exitCode, file: file.data, log: log.slice(0, MAX_LOG_LENGTH) };
}

/** A command that ignores a full disk would run on in vain, so a file that grows too large ends it. */
class LimitedFile extends File {
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    super([]);
    this.#maxBytes = maxBytes;
  }

  override path_open(oflags: number, rights: bigint, flags: number): { ret: number; fd_obj: OpenFile } {
    const opened = super.path_open(oflags, rights, flags);
    const { fd_obj: open } = opened;
    const write = open.fd_write.bind(open);
    open.fd_write = (bytes) => {
      if (Number(open.file_pos) + bytes.length > this.#maxBytes)
        throw new RangeError(`the command wrote more than ${this.#maxBytes} bytes`);
      return write(bytes);
    };
    return opened;
  }
}
