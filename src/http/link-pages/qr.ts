import qrcode from "qrcode-generator";
import { BoundedMap } from "../../base/bounded-map.ts";
import { TurnBudget } from "../../base/turn-budget.ts";
import { png } from "./png.ts";

/** Size of a module, pixels, and width of the quiet zone, modules (ISO/IEC 18004 §6.3.8 asks for four). */
const SCALE = 8;
const QUIET_ZONE = 4;
/** Maximum number of cached images, about 3 KB each. */
const MAX_IMAGES = 256;

/** Returns the QR code of a text as a PNG image. */
export type QrImages = (text: string) => Promise<Uint8Array>;

/**
 * Renders each code once, however many requests ask for its image. Different codes are rendered one per turn of the
 * event loop, because a single code takes milliseconds.
 */
export function qrImages(render: QrImages = qrPng): QrImages {
  const images = new BoundedMap<string, Promise<Uint8Array>>(MAX_IMAGES);
  const turns = new TurnBudget(1);
  const renderNext = async (text: string): Promise<Uint8Array> => {
    await turns.take(1);
    return render(text);
  };
  return (text) => {
    const cachedImage = images.get(text);
    if (cachedImage) return cachedImage;
    const image = renderNext(text);
    images.set(text, image);
    image.catch(() => images.delete(text));
    return image;
  };
}

/** The QR code of a text as a PNG image; error correction level M. */
export async function qrPng(text: string): Promise<Uint8Array> {
  const code = qrcode(0, "M");
  // The generator treats each character as a byte, so the text is encoded as UTF-8 first.
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  code.addData(bytes, "Byte");
  code.make();
  const modules = code.getModuleCount();
  const moduleAt = (pixel: number): number => Math.floor(pixel / SCALE) - QUIET_ZONE;
  return png((modules + 2 * QUIET_ZONE) * SCALE, (x, y) => {
    const row = moduleAt(y);
    const column = moduleAt(x);
    return row >= 0 && column >= 0 && row < modules && column < modules && code.isDark(row, column);
  });
}
