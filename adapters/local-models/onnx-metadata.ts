import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { CodedError } from "../../src/base/error.ts";

/** Thrown for a file that is not an ONNX model. */
export class NotOnnx extends CodedError {
  readonly code = "model_invalid";
}

/** Fields of ModelProto (onnx.proto). */
const GRAPH = 7;
const METADATA = 14;
/** Wire types (https://protobuf.dev/programming-guides/encoding). */
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

/** Maximum size of a field's header: the tag and the length take at most 10 bytes each. */
const HEADER_BYTES = 20;
const MAX_FIELDS = 10_000;
const MAX_ENTRIES = 1_000;
const MAX_ENTRY_BYTES = 1 << 20;

/**
 * The metadata of an ONNX file: `sample_rate`, `n_speakers`, `language` and so on. Reads a few bytes of each field and
 * skips the graph, so a model of any size takes only milliseconds.
 * @throws {NotOnnx} the file is cut short, or not a model
 */
export async function onnxMetadata(path: string): Promise<ReadonlyMap<string, string>> {
  const file = await open(path);
  try {
    return await metadataOf(file);
  } finally {
    await file.close();
  }
}

async function metadataOf(file: FileHandle): Promise<ReadonlyMap<string, string>> {
  const { size } = await file.stat();
  const metadata = new Map<string, string>();
  let hasGraph = false;
  let at = 0;
  for (let count = 0; at < size; count++) {
    if (count === MAX_FIELDS) throw new NotOnnx(`it has more than ${MAX_FIELDS} fields`);
    const header = new Reader(await read(file, at, Math.min(HEADER_BYTES, size - at)));
    const tag = header.varint();
    const length = payloadLength(tag % 8, header);
    at += header.at;
    if (at + length > size) throw new NotOnnx("it is cut short, or not an ONNX file");
    const field = Math.floor(tag / 8);
    if (field === GRAPH) hasGraph = true;
    if (field === METADATA && metadata.size < MAX_ENTRIES && length <= MAX_ENTRY_BYTES) {
      const [key, value] = entryOf(await read(file, at, length));
      metadata.set(key, value);
    }
    at += length;
  }
  if (!hasGraph) throw new NotOnnx("it is not an ONNX file");
  return metadata;
}

/** Number of bytes in a field after its tag. */
function payloadLength(wireType: number, header: Reader): number {
  switch (wireType) {
    case VARINT:
      header.varint();
      return 0;
    case FIXED_64:
      return 8;
    case LENGTH_DELIMITED:
      return header.varint();
    case FIXED_32:
      return 4;
    default:
      throw new NotOnnx("it is not an ONNX file");
  }
}

/** A StringStringEntryProto: key 1, value 2. */
function entryOf(bytes: Uint8Array): readonly [key: string, value: string] {
  const texts = ["", "", ""];
  const reader = new Reader(bytes);
  while (reader.at < bytes.length) {
    const tag = reader.varint();
    if (tag % 8 !== LENGTH_DELIMITED) throw new NotOnnx("its metadata is malformed");
    const text = new TextDecoder().decode(reader.take(reader.varint()));
    const field = Math.floor(tag / 8);
    if (field < texts.length) texts[field] = text;
  }
  return [texts[1] ?? "", texts[2] ?? ""];
}

async function read(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let filledBytes = 0;
  while (filledBytes < length) {
    const { bytesRead } = await file.read(bytes, filledBytes, length - filledBytes, position + filledBytes);
    if (bytesRead === 0) throw new NotOnnx("it became shorter while it was read");
    filledBytes += bytesRead;
  }
  return bytes;
}

/** Reads protobuf from bytes. Throws {@link NotOnnx} if there are too few. */
class Reader {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** A non-negative integer below 2^53; larger ones are rejected. */
  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.at++];
      if (byte === undefined || factor > 2 ** 49) throw new NotOnnx("it is not an ONNX file");
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  take(length: number): Uint8Array {
    const end = this.at + length;
    if (end > this.#bytes.length) throw new NotOnnx("its metadata is cut short");
    const slice = this.#bytes.subarray(this.at, end);
    this.at = end;
    return slice;
  }
}
