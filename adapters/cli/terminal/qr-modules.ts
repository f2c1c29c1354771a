import qrcode from "qrcode-generator";
import { type Bitmap, readPng } from "./png-image.ts";

/** A QR code's squares, without the quiet zone around them. */
export interface QrModules {
  /** Number of squares along each side. */
  readonly size: number;
  isDark(row: number, column: number): boolean;
}

/** The QR code for a text; error correction level L, which makes the smallest picture. */
export function modulesOfText(text: string): QrModules {
  const code = qrcode(0, "L");
  // The generator treats each character as a byte, so the text is encoded as UTF-8 first.
  code.addData(String.fromCharCode(...new TextEncoder().encode(text)), "Byte");
  code.make();
  return { size: code.getModuleCount(), isDark: (row, column) => code.isDark(row, column) };
}

/** Width of the finder pattern in the upper left corner, modules. */
const FINDER = 7;

/**
 * The modules of the QR code in a picture that contains nothing else; the code's content is not decoded.
 * @throws {Error} the file is not a PNG, or shows no upright QR code
 */
export function modulesOfPng(png: Uint8Array): QrModules {
  const image = readPng(png);
  const corner = firstDark(image);
  if (!corner) throw new Error("the picture has no QR code: it is white");
  const { x: left, y: top } = corner;
  let finderPixels = 0;
  while (left + finderPixels < image.width && image.isDark(left + finderPixels, top)) finderPixels++;
  const scale = finderPixels / FINDER;
  const size = Math.round((image.width - 2 * left) / scale);
  // 21 modules in version 1, four more in each later version (ISO/IEC 18004 §7.3.1).
  if (size < 21 || (size - 21) % 4 !== 0) throw new Error("the picture has no QR code that can be drawn");
  const middle = (start: number, module: number): number => Math.floor(start + (module + 0.5) * scale);
  return { size, isDark: (row, column) => image.isDark(middle(left, column), middle(top, row)) };
}

function firstDark({ width, height, isDark }: Bitmap): { x: number; y: number } | undefined {
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) if (isDark(x, y)) return { x, y };
  return undefined;
}
