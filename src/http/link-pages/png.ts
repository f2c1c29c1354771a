import { concatBytes } from "../../base/concat-bytes.ts";

/** Returns true if the pixel is black. */
export type Pixel = (x: number, y: number) => boolean;

/**
 * A square black and white image as a PNG (ISO/IEC 15948): greyscale, one bit per pixel, no filter.
 * @param size width and height, pixels
 */
export async function png(size: number, isDark: Pixel): Promise<Uint8Array> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, size);
  view.setUint32(4, size);
  header[8] = 1; // bits per sample; the four bytes after it (greyscale, deflate, no interlace) are zero
  const parts = [
    chunk("IHDR", header),
    chunk("IDAT", await deflate(rows(size, isDark))),
    chunk("IEND", new Uint8Array()),
  ];
  return concatBytes([Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10), ...parts]);
}

/** The pixels, most significant bit first, with a zero (no filter) before every row. */
function rows(size: number, isDark: Pixel): Uint8Array<ArrayBuffer> {
  const stride = Math.ceil(size / 8) + 1;
  const bytes = new Uint8Array(stride * size).fill(255);
  for (let y = 0; y < size; y++) {
    bytes[y * stride] = 0;
    for (let x = 0; x < size; x++) if (isDark(x, y)) bytes[y * stride + 1 + (x >> 3)]! &= ~(0x80 >> (x & 7));
  }
  return bytes;
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  for (let i = 0; i < 4; i++) bytes[4 + i] = type.charCodeAt(i);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, crc32(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

const CRC_TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, value) => {
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 255]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
