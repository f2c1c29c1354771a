/** The little of WebAssembly that this folder uses; the project compiles without the browser's types that declare it. */
export interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  instantiate(module: WasmModule, imports: Record<string, Record<string, unknown>>): Promise<WasmInstance>;
}

/** Compiled code. */
export interface WasmModule {
  readonly wasmModule?: never;
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** WebAssembly, as every runtime has it. */
export const webAssembly: WebAssemblyApi = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
