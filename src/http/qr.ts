import qrcode from "qrcode-generator";
import { png } from "./png.ts";

/** Pixels of one module, and modules of the quiet zone (ISO/IEC 18004 §6.3.8 asks for four). */
const SCALE = 8;
const QUIET_ZONE = 4;

/** The QR code of a text as a PNG image; error correction level M. */
export async function qrPng(text: string): Promise<Uint8Array> {
  const code = qrcode(0, "M");
  // The generator treats each character as a byte, so the text is encoded as UTF-8 first.
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  code.addData(bytes, "Byte");
  code.make();
  const modules = code.getModuleCount();
  const at = (pixel: number): number => Math.floor(pixel / SCALE) - QUIET_ZONE;
  return png((modules + 2 * QUIET_ZONE) * SCALE, (x, y) => {
    const row = at(y);
    const column = at(x);
    return row >= 0 && column >= 0 && row < modules && column < modules && code.isDark(row, column);
  });
}
