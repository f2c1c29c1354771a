/** The part of WebAssembly that this folder uses. The project compiles without the browser's types, which declare it. */
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

/** The global WebAssembly. */
export const webAssembly: WebAssemblyApi = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
