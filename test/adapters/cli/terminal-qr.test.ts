import jsqr from "jsqr";
import { expect, test } from "vitest";
import { modulesOfPng, modulesOfText } from "../../../adapters/cli/terminal/qr-modules.ts";
import { terminalQr } from "../../../adapters/cli/terminal/terminal-qr.ts";
import { qrPng } from "../../../src/http/link-pages/qr.ts";

const SCALE = 4;
/** Light upper half, light lower half. */
const LIGHT_HALVES: Readonly<Record<string, readonly [boolean, boolean]>> = {
  "█": [true, true],
  "▀": [true, false],
  "▄": [false, true],
  " ": [false, false],
};

/** An image of the text as a dark terminal shows it. */
function screenshot(lines: readonly string[]): { pixels: Uint8ClampedArray; width: number; height: number } {
  const rows = lines.flatMap((line) =>
    [0, 1].map((half) => [...line].map((character) => LIGHT_HALVES[character]?.[half])),
  );
  const [width, height] = [(rows[0]?.length ?? 0) * SCALE, rows.length * SCALE];
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      if (!rows[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)])
        pixels.fill(0, 4 * (y * width + x), 4 * (y * width + x) + 3);
  return { pixels, width, height };
}

const PAYLOADS = ["http://127.0.0.1:8080/simulator/link/rcwzhrxsstfz29ah", "short", "ümlaut ✓", "long ".repeat(60)];

function scan(lines: readonly string[]): string | undefined {
  const { pixels, width, height } = screenshot(lines);
  // jsqr is CommonJS: its types name the function "default", and so does the module itself.
  const decode = jsqr as unknown as typeof jsqr.default;
  return decode(pixels, width, height)?.data;
}

test.each(PAYLOADS)("the QR code of %s can be scanned from a terminal", (text) => {
  expect(scan(terminalQr(modulesOfText(text), { colours: false }))).toBe(text);
});

test.each(PAYLOADS)("the picture of %s can be scanned", async (text) => {
  expect(scan(terminalQr(modulesOfPng(await qrPng(text)), { colours: false }))).toBe(text);
});

test("a picture without a QR code is refused", () => {
  expect(() => modulesOfPng(new TextEncoder().encode("GIF89a…"))).toThrow("not a PNG");
});

test("every line sets its colours and resets them at its end", () => {
  for (const line of terminalQr(modulesOfText("x"), { colours: true })) {
    expect(line.startsWith("\x1b[97;40m")).toBe(true);
    expect(line.endsWith("\x1b[0m")).toBe(true);
  }
});
