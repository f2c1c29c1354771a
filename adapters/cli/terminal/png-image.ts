import { inflateSync } from "node:zlib";

/** A picture of black and white dots. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  isDark(x: number, y: number): boolean;
}

const SIGNATURE = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);

/**
 * Reads a greyscale PNG with one bit per dot and without line filters, the format of Ringport's QR codes (ISO/IEC
 * 15948).
 * @throws {Error} the file has another format
 */
export function readPng(file: Uint8Array): Bitmap {
  if (!SIGNATURE.every((byte, i) => file[i] === byte)) throw new Error("the picture is not a PNG");
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const chunks: Uint8Array[] = [];
  let header: Uint8Array | undefined;
  for (let offset = SIGNATURE.length; offset + 12 <= file.length; ) {
    const length = view.getUint32(offset);
    const type = String.fromCharCode(...file.subarray(offset + 4, offset + 8));
    const content = file.subarray(offset + 8, offset + 8 + length);
    if (type === "IHDR") header = content;
    if (type === "IDAT") chunks.push(content);
    offset += 12 + length;
  }
  // Bits per sample, colour type, compression, filter method, interlace.
  if (header?.subarray(8, 13).join() !== "1,0,0,0,0") throw new Error("the PNG has another pixel format");
  const { width, height } = sizeOf(header);
  const stride = Math.ceil(width / 8) + 1;
  const rows = inflateSync(Buffer.concat(chunks));
  for (let y = 0; y < height; y++) if (rows[y * stride] !== 0) throw new Error("the PNG has line filters");
  const isDark = (x: number, y: number): boolean =>
    ((rows[y * stride + 1 + (x >> 3)] ?? 255) & (0x80 >> (x & 7))) === 0;
  return { width, height, isDark };
}

function sizeOf(header: Uint8Array): { width: number; height: number } {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  return { width: view.getUint32(0), height: view.getUint32(4) };
}
