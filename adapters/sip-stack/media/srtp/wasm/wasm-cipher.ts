import type { Hmac, Keystream, PacketCipher } from "../packet-cipher.ts";
import { BLOCKS_AT_ONCE, keystreamFunction, roundKeys } from "./aes-code.ts";
import { type AesTables, aesTables } from "./aes-tables.ts";
import { assembleModule } from "./assembler.ts";
import { compressFunction, hmacFunction } from "./sha1-code.ts";

/** The functions of the module. */
interface CipherFunctions {
  compress(block: number): void;
  hmac(length: number): void;
  keystream(ssrc: number, roc: number, sequence: number, lastKey: number, end: number): void;
}

/** The part of WebAssembly used here. The project compiles without the browser's types, which declare it. */
interface WebAssemblyApi {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: CipherFunctions };
  readonly Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
}

/** A loaded module, and its memory. */
interface Machine {
  readonly functions: CipherFunctions;
  readonly memory: Uint8Array;
  readonly tables: AesTables;
  /** Address of the message to be authenticated, and its maximum length. */
  readonly message: number;
  readonly maxBytes: number;
}

const PAGE = 65_536;
const AES_BLOCK = 16;
const SHA1_BLOCK = 64;
const DIGEST = 20;
const CHAINING = 0;
const INNER = 32;
const OUTER = 64;
const OUTER_BLOCK = 128;
const SALT = 192;
const STREAM = 512;
/** SHA-1's initial chaining value. */
const SHA1_START = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0] as const;

/**
 * AES in counter mode and HMAC-SHA1 in WebAssembly, with buffers in its memory: no packet allocates anything. Undefined
 * if the runtime has no WebAssembly with vectors. Compiling takes a few milliseconds.
 * @param maxBytes maximum length of a packet
 */
export function createWasmCipher(maxBytes: number): PacketCipher | undefined {
  const { WebAssembly: api } = globalThis as unknown as { WebAssembly?: WebAssemblyApi };
  const message = STREAM + maxBytes + BLOCKS_AT_ONCE * AES_BLOCK;
  const addresses = { chaining: CHAINING, inner: INNER, outer: OUTER, outerBlock: OUTER_BLOCK, message };
  const tables = aesTables();
  const bytes = assembleModule([
    compressFunction(addresses),
    hmacFunction(addresses, 0),
    keystreamFunction({ salt: SALT, stream: STREAM }, tables),
  ]);
  if (api === undefined || !api.validate(bytes)) return undefined;
  const pages = Math.ceil((message + maxBytes + 2 * SHA1_BLOCK) / PAGE);
  const store = new api.Memory({ initial: pages, maximum: pages });
  const functions = new api.Instance(new api.Module(bytes), { m: { m: store } }).exports;
  const memory = new Uint8Array(store.buffer);
  memory[OUTER_BLOCK + DIGEST] = 0x80;
  new DataView(store.buffer).setUint32(OUTER_BLOCK + SHA1_BLOCK - 4, (SHA1_BLOCK + DIGEST) * 8);
  const machine = { functions, memory, tables, message, maxBytes };
  return {
    keystream: (key, salt) => new WasmKeystream(machine, key, salt),
    hmac: (key) => new WasmHmac(machine, key),
  };
}

class WasmKeystream implements Keystream {
  readonly #functions: CipherFunctions;
  readonly #memory: Uint8Array;
  /** The padded salt and the round keys, which are copied into the memory for each packet. */
  readonly #keys: Uint8Array;
  readonly #lastKey: number;

  constructor({ functions, memory, tables }: Machine, key: Uint8Array, salt: Uint8Array) {
    this.#functions = functions;
    this.#memory = memory;
    const keys = roundKeys(key, tables);
    this.#keys = new Uint8Array(AES_BLOCK + keys.length);
    this.#keys.set(salt);
    this.#keys.set(keys, AES_BLOCK);
    this.#lastKey = SALT + keys.length;
  }

  xor(bytes: Uint8Array, from: number, to: number, ssrc: number, roc: number, sequence: number): void {
    if (from >= to) return;
    const memory = this.#memory;
    memory.set(this.#keys, SALT);
    this.#functions.keystream(ssrc, roc, sequence, this.#lastKey, STREAM + to - from);
    const offset = STREAM - from;
    for (let i = from; i < to; i++) bytes[i] = bytes[i]! ^ memory[offset + i]!;
  }
}

class WasmHmac implements Hmac {
  readonly #machine: Machine;
  readonly #functions: CipherFunctions;
  readonly #memory: Uint8Array;
  readonly #message: number;
  readonly #digest: Uint8Array;
  /** The chaining values after the key's two blocks, which are copied into the memory for each packet. */
  readonly #chaining: Uint8Array;

  constructor(machine: Machine, key: Uint8Array) {
    const { functions, memory, message } = machine;
    this.#machine = machine;
    this.#functions = functions;
    this.#memory = memory;
    this.#message = message;
    this.#digest = memory.subarray(CHAINING, CHAINING + DIGEST);
    this.#chaining = new Uint8Array(OUTER - INNER + DIGEST);
    this.#chaining.set(this.#afterKey(key, 0x36));
    this.#chaining.set(this.#afterKey(key, 0x5c), OUTER - INNER);
  }

  digest(bytes: Uint8Array, length: number): Uint8Array {
    const memory = this.#memory;
    const message = this.#message;
    if (bytes.length <= this.#machine.maxBytes) memory.set(bytes, message);
    else for (let i = 0; i < length; i++) memory[message + i] = bytes[i]!;
    memory.set(this.#chaining, INNER);
    this.#functions.hmac(length);
    return this.#digest;
  }

  #afterKey(key: Uint8Array, pad: number): Uint8Array {
    const memory = this.#memory;
    new Uint32Array(memory.buffer).set(SHA1_START, CHAINING / 4);
    for (let i = 0; i < SHA1_BLOCK; i++) memory[this.#message + i] = (key[i] ?? 0) ^ pad;
    this.#functions.compress(this.#message);
    return this.#digest;
  }
}
