import { alawCode, mulawCode } from "../../../src/audio/samples/g711-companding.ts";

/** A WAV file to build; a test may set any field to a wrong value. */
export interface WavRecipe {
  readonly tag: number;
  readonly bits: number;
  readonly channels?: number;
  readonly sampleRate?: number;
  /** One list per frame: a value from -1 to 1 for each channel. */
  readonly frames: readonly (readonly number[])[];
  readonly extensible?: boolean;
  readonly container?: "RIFF" | "RF64";
  /** Declared length of the data chunk. Default: the true length. */
  readonly dataSize?: number;
  /** Chunks before the data, and chunks after it. */
  readonly before?: readonly Uint8Array[];
  readonly after?: readonly Uint8Array[];
}

export function buildWav(recipe: WavRecipe): Uint8Array<ArrayBuffer> {
  const { tag, bits, channels = 1, sampleRate = 8000, frames, before = [], after = [] } = recipe;
  const container = recipe.container ?? "RIFF";
  const data = concatBytes(frames.flat().map((value) => encode(tag, bits, value)));
  const fmtFields = [
    ...u16(recipe.extensible ? 0xfffe : tag),
    ...u16(channels),
    ...u32(sampleRate),
    ...u32((sampleRate * channels * bits) / 8),
    ...u16((channels * bits) / 8),
    ...u16(bits),
  ];
  const extension = [
    ...u16(22),
    ...u16(bits),
    ...u32(0),
    ...u16(tag),
    0,
    0,
    0,
    0,
    16,
    0,
    128,
    0,
    0,
    170,
    0,
    56,
    155,
    113,
  ];
  const isLong = container === "RF64";
  const declaredSize = recipe.dataSize ?? (isLong ? 0xffff_ffff : data.length);
  const body = concatBytes([
    letters("WAVE"),
    ...(isLong
      ? [chunk("ds64", [...u32(0), ...u32(0), ...u32(data.length), ...u32(0), ...u32(0), ...u32(0), ...u32(0)])]
      : []),
    ...before,
    chunk("fmt ", recipe.extensible ? [...fmtFields, ...extension] : fmtFields),
    letters("data"),
    u32(declaredSize),
    data,
    ...(data.length % 2 === 1 && after.length > 0 ? [[0]] : []),
    ...after,
  ]);
  return concatBytes([letters(container), u32(isLong ? 0xffff_ffff : body.length), body]);
}

/** A chunk with its pad byte. */
export function chunk(id: string, content: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  return concatBytes([letters(id), u32(content.length), content, content.length % 2 === 1 ? [0] : []]);
}

export function concatBytes(parts: readonly ArrayLike<number>[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function letters(text: string): number[] {
  return Array.from(text, (letter) => letter.charCodeAt(0));
}

function u16(value: number): number[] {
  return [value & 255, (value >> 8) & 255];
}

function u32(value: number): number[] {
  return [...u16(value & 0xffff), ...u16(value >>> 16)];
}

function encode(tag: number, bits: number, value: number): Uint8Array {
  const bytes = new Uint8Array(bits / 8);
  const view = new DataView(bytes.buffer);
  const fullScale = 2 ** (bits - 1);
  const sample = Math.max(-fullScale, Math.min(fullScale - 1, Math.round(value * fullScale)));
  if (tag === 3 && bits === 32) view.setFloat32(0, value, true);
  else if (tag === 3 && bits === 64) view.setFloat64(0, value, true);
  else if (tag === 6) bytes[0] = alawCode(Math.round(value * 32767));
  else if (tag === 7) bytes[0] = mulawCode(Math.round(value * 32767));
  else if (bits === 8) bytes[0] = sample + 128;
  else for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(sample / 256 ** i) & 255;
  return bytes;
}
