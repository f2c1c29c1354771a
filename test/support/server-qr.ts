import { inflateSync } from "node:zlib";
import jsQR from "jsqr";

/** A greyscale picture, one byte for each pixel. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

/** Decodes a greyscale PNG without interlacing (ISO/IEC 15948). @throws {Error} it is something else, or damaged */
export function decodePng(file: Buffer): Picture {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new Error("not a PNG: its signature is wrong");
  let header: Buffer | undefined;
  const pieces: Buffer[] = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    const content = file.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") header = content;
    if (type === "IDAT") pieces.push(content);
    if (type === "IEND") break;
    at += 12 + length;
  }
  if (!header) throw new Error("not a PNG: it has no header");
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, colour, , , interlaceMethod] = header.subarray(8);
  if (colour !== 0 || interlaceMethod !== 0)
    throw new Error(`unsupported PNG: colour type ${colour}, interlace method ${interlaceMethod}`);
  const lines = undoFilters(inflateSync(Buffer.concat(pieces)), Math.ceil((width * depth) / 8), Math.ceil(depth / 8));
  const grey = new Uint8Array(width * height);
  const levels = 2 ** depth - 1;
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const bit = x * depth;
      const value = depth === 16 ? lines[y]![2 * x]! : (lines[y]![bit >> 3]! >> (8 - depth - (bit & 7))) & levels;
      grey[y * width + x] = depth === 16 ? value : Math.round((value * 255) / levels);
    }
  return { width, height, pixels: grey };
}

/** Undoes the line filters (§9). */
function undoFilters(data: Buffer, lineBytes: number, pixelBytes: number): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let rowAbove = new Uint8Array(lineBytes);
  for (let at = 0; at < data.length; at += lineBytes + 1) {
    const filter = data[at]!;
    const line = Uint8Array.from(data.subarray(at + 1, at + 1 + lineBytes));
    for (let i = 0; i < lineBytes; i++) {
      const left = i < pixelBytes ? 0 : line[i - pixelBytes]!;
      const upperLeft = i < pixelBytes ? 0 : rowAbove[i - pixelBytes]!;
      line[i]! += [0, left, rowAbove[i]!, (left + rowAbove[i]!) >> 1, paeth(left, rowAbove[i]!, upperLeft)][filter]!;
    }
    lines.push(line);
    rowAbove = line;
  }
  return lines;
}

function paeth(a: number, b: number, c: number): number {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

/** The text of the QR code in a PNG, read as a phone's camera would. @throws {Error} no code can be read */
export function readQr(png: Buffer): string {
  const { width, height, pixels } = decodePng(png);
  const rgba = new Uint8ClampedArray(4 * width * height).fill(255);
  for (const [i, value] of pixels.entries()) rgba.fill(value, 4 * i, 4 * i + 3);
  // jsqr is CommonJS: its types name the function "default", and so does the module itself.
  const decode = ((jsQR as { default?: unknown }).default ?? jsQR) as unknown as (
    data: Uint8ClampedArray,
    width: number,
    height: number,
  ) => { data: string } | null;
  const qrCode = decode(rgba, width, height);
  if (!qrCode) throw new Error(`no QR code can be read in a picture of ${width} by ${height} pixels`);
  return qrCode.data;
}
