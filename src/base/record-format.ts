/** First byte of every record. */
const VERSION = 1;
/** Maximum depth of values: deeper values can neither be written nor read. */
const MAX_LEVELS = 64;

/** First byte of each value. */
const NULL = 0;
const UNDEFINED = 1;
const FALSE = 2;
const TRUE = 3;
const NUMBER = 4;
const BIGINT = 5;
const TEXT = 6;
const BYTES = 7;
const DATE = 8;
const LIST = 9;
const MAP = 10;
const OBJECT = 11;

/**
 * Writes a value of a client's store: null, booleans, numbers, bigints, well-formed text, bytes, dates, lists, maps,
 * and the own properties of any other object that are not undefined. Throws a TypeError for anything else, such as
 * functions.
 */
export function encodeRecord(value: unknown): Uint8Array {
  const writer = new Writer();
  writer.byte(VERSION);
  write(writer, value, MAX_LEVELS);
  return writer.bytes;
}

/**
 * Reads a value written by {@link encodeRecord}; bytes are returned as `Uint8Array`, objects without their class.
 * Throws an Error for any other bytes.
 */
export function decodeRecord(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  const version = reader.byte();
  if (version !== VERSION) throw new Error(`unknown format ${version}`);
  const value = read(reader, MAX_LEVELS);
  if (reader.remainingBytes > 0) throw new Error(`${reader.remainingBytes} unexpected bytes at the end`);
  return value;
}

function write(writer: Writer, value: unknown, levels: number): void {
  if (levels === 0) throw new TypeError(`a record has more than ${MAX_LEVELS} levels`);
  if (value === null) writer.byte(NULL);
  else if (value === undefined) writer.byte(UNDEFINED);
  else if (typeof value === "boolean") writer.byte(value ? TRUE : FALSE);
  else if (typeof value === "number") writer.tag(NUMBER).number(value);
  else if (typeof value === "bigint") writer.tag(BIGINT).block(utf8.encode(String(value)));
  else if (typeof value === "string") writer.tag(TEXT).block(utf8.encode(value));
  else if (value instanceof Uint8Array) writer.tag(BYTES).block(value);
  else if (value instanceof Date) writer.tag(DATE).number(value.getTime());
  else if (Array.isArray(value)) writeAll(writer.tag(LIST), value, levels);
  else if (value instanceof Map) writeAll(writer.tag(MAP), [...value].flat(), levels);
  else if (typeof value === "object" && !ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer))
    writeAll(writer.tag(OBJECT), definedEntries(value).flat(), levels);
  else
    throw new TypeError(
      `a record cannot contain a ${typeof value === "object" ? value.constructor.name : typeof value}`,
    );
}

function writeAll(writer: Writer, values: readonly unknown[], levels: number): void {
  writer.length(values.length);
  for (const value of values) write(writer, value, levels - 1);
}

function definedEntries(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, inner]) => inner !== undefined);
}

function read(reader: Reader, levels: number): unknown {
  if (levels === 0) throw new Error(`more than ${MAX_LEVELS} levels`);
  const tag = reader.byte();
  switch (tag) {
    case NULL:
      return null;
    case UNDEFINED:
      return undefined;
    case FALSE:
      return false;
    case TRUE:
      return true;
    case NUMBER:
      return reader.number();
    case BIGINT:
      return BigInt(text(reader.block()));
    case TEXT:
      return text(reader.block());
    case BYTES:
      return reader.block().slice();
    case DATE:
      return new Date(reader.number());
    case LIST:
      return readAll(reader, levels);
    case MAP:
      return new Map(pairs(readAll(reader, levels)));
    case OBJECT:
      return Object.fromEntries(pairs(readAll(reader, levels)).map(([key, value]) => [String(key), value]));
    default:
      throw new Error(`unknown kind of value ${tag}`);
  }
}

function readAll(reader: Reader, levels: number): unknown[] {
  const values: unknown[] = [];
  for (let remainingItems = reader.length(); remainingItems > 0; remainingItems--)
    values.push(read(reader, levels - 1));
  return values;
}

function pairs(values: readonly unknown[]): [unknown, unknown][] {
  if (values.length % 2 !== 0) throw new Error("a key without a value");
  const entries: [unknown, unknown][] = [];
  for (let i = 0; i < values.length; i += 2) entries.push([values[i], values[i + 1]]);
  return entries;
}

const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function text(bytes: Uint8Array): string {
  return strictUtf8.decode(bytes);
}

/** A growing buffer of bytes. */
class Writer {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #position = 0;

  get bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#position);
  }

  byte(value: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#position++] = value;
  }

  tag(tag: number): this {
    this.byte(tag);
    return this;
  }

  number(value: number): void {
    this.#makeRoom(8);
    this.#view.setFloat64(this.#position, value);
    this.#position += 8;
  }

  length(length: number): void {
    this.#makeRoom(4);
    this.#view.setUint32(this.#position, length);
    this.#position += 4;
  }

  block(bytes: Uint8Array): void {
    this.length(bytes.length);
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  #makeRoom(count: number): void {
    if (this.#position + count <= this.#bytes.length) return;
    const largerBuffer = new Uint8Array(Math.max(2 * this.#bytes.length, this.#position + count));
    largerBuffer.set(this.#bytes);
    this.#bytes = largerBuffer;
    this.#view = new DataView(largerBuffer.buffer);
  }
}

/** Reads bytes in order, and never past their end. */
class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get remainingBytes(): number {
    return this.#bytes.length - this.#position;
  }

  byte(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  number(): number {
    return this.#view.getFloat64(this.#advance(8));
  }

  /** A length; every item takes at least a byte, so it cannot exceed the remaining bytes. */
  length(): number {
    const length = this.#view.getUint32(this.#advance(4));
    if (length > this.remainingBytes) throw new Error(`${length - this.remainingBytes} bytes are missing`);
    return length;
  }

  block(): Uint8Array {
    const length = this.length();
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  #advance(count: number): number {
    if (count > this.remainingBytes) throw new Error(`${count - this.remainingBytes} bytes are missing`);
    const at = this.#position;
    this.#position += count;
    return at;
  }
}
