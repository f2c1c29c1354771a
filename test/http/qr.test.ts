import qrcode from "qrcode-generator";
import { describe, expect, onTestFinished, test } from "vitest";
import { png } from "../../src/http/link-pages/png.ts";
import { qrImages, qrPng } from "../../src/http/link-pages/qr.ts";

/** A PNG decoder for 1-bit greyscale: checks each chunk's CRC bit by bit and returns the pixels, true for black. */
async function decodePng(bytes: Uint8Array): Promise<boolean[][]> {
  expect([...bytes.subarray(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10]);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const chunks = new Map<string, Uint8Array>();
  for (let offset = 8; offset < bytes.length; ) {
    const length = view.getUint32(offset);
    const body = bytes.subarray(offset + 4, offset + 8 + length);
    expect(view.getUint32(offset + 8 + length)).toBe(crc(body));
    chunks.set(String.fromCharCode(...body.subarray(0, 4)), body.subarray(4));
    offset += 12 + length;
  }
  expect([...chunks.keys()]).toEqual(["IHDR", "IDAT", "IEND"]);
  const header = chunks.get("IHDR")!;
  expect([...header.subarray(8)]).toEqual([1, 0, 0, 0, 0]);
  const size = new DataView(header.buffer, header.byteOffset).getUint32(0);
  const packed = new Blob([chunks.get("IDAT")! as Uint8Array<ArrayBuffer>]).stream();
  const inflated = new Uint8Array(
    await new Response(packed.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer(),
  );
  const stride = Math.ceil(size / 8) + 1;
  expect(inflated.length).toBe(stride * size);
  return Array.from({ length: size }, (_, y) => {
    expect(inflated[y * stride]).toBe(0);
    return Array.from({ length: size }, (_, x) => ((inflated[y * stride + 1 + (x >> 3)]! >> (7 - (x & 7))) & 1) === 0);
  });
}

function crc(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

test.each([1, 7, 8, 9, 33])("a PNG of %i pixels per side decodes to the same pixels", async (size) => {
  const isDark = (x: number, y: number): boolean => (x * 7 + y * 13) % 3 === 0;
  const expected = Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => isDark(x, y)));
  expect(await decodePng(await png(size, isDark))).toEqual(expected);
});

describe("QR codes", () => {
  test.each(["https://example.test/simulator/link/abc", "café 🎉", "2@".concat("x".repeat(230))])(
    "the image of %j has eight pixels per module and a quiet zone of four",
    async (text) => {
      const pixels = await decodePng(await qrPng(text));
      const code = qrcode(0, "M");
      code.addData(String.fromCharCode(...new TextEncoder().encode(text)), "Byte");
      code.make();
      const modules = code.getModuleCount();
      expect(pixels.length).toBe((modules + 8) * 8);
      for (let y = 0; y < pixels.length; y++)
        for (let x = 0; x < pixels.length; x++) {
          const [row, column] = [Math.floor(y / 8) - 4, Math.floor(x / 8) - 4];
          const isInside = row >= 0 && column >= 0 && row < modules && column < modules;
          if (pixels[y]![x] !== (isInside && code.isDark(row, column))) expect.fail(`pixel ${x}, ${y} differs`);
        }
    },
  );
});

describe("images of QR codes", () => {
  /** Records each rendering, and the turn of the event loop in which it ran. */
  function countRenderings() {
    const renderedTexts: string[] = [];
    const turns = new Set<number>();
    let turn = 0;
    const tick = (): void => {
      turn++;
      clock = setImmediate(tick);
    };
    let clock = setImmediate(tick);
    onTestFinished(() => clearImmediate(clock));
    const image = qrImages(async (text) => {
      renderedTexts.push(text);
      turns.add(turn);
      return new Uint8Array([text.length]);
    });
    return { renderedTexts, image, turns };
  }

  test("a code is rendered once for concurrent requests", async () => {
    const { renderedTexts, image } = countRenderings();
    const images = await Promise.all(Array.from({ length: 40 }, () => image("code")));
    expect(new Set(images).size).toBe(1);
    expect(await image("code")).toBe(images[0]);
    expect(renderedTexts).toEqual(["code"]);
  });

  test("different codes are rendered in different turns of the event loop", async () => {
    const { renderedTexts, image, turns } = countRenderings();
    await Promise.all(Array.from({ length: 40 }, (_, n) => image(`code ${n}`)));
    expect([renderedTexts.length, turns.size]).toEqual([40, 40]);
  });

  test("a failed rendering is not cached, and old codes are dropped", async () => {
    let count = 0;
    const image = qrImages(async () => {
      if (count++ === 0) throw new Error("broken");
      return new Uint8Array();
    });
    await expect(image("code")).rejects.toThrow("broken");
    await image("code");
    await image("code");
    expect(count).toBe(2);
    for (let n = 0; n < 256; n++) await image(String(n));
    await image("code");
    expect(count).toBe(2 + 256 + 1);
  });
});
