import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { type Look, waitFor } from "./browser.ts";
import { LOW_CONTRAST_TEXTS } from "./contrast.ts";
import { CUT_TEXTS } from "./cut-texts.ts";

export const LOOKS: readonly Look[] = [
  { width: 360, scheme: "dark" },
  { width: 360, scheme: "light" },
  { width: 1440, scheme: "dark" },
  { width: 1440, scheme: "light" },
];

/** A phone and a desktop, px. */
export const WIDTHS: readonly number[] = [360, 1440];

/** Number of pixels by which a page is wider than its screen. */
const OVERFLOW_PIXELS = "Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)";
/** Colour of the painted background, 0 to 255. */
const BRIGHTNESS = `(() => {
  const colours = [document.body, document.documentElement].map((one) => getComputedStyle(one).backgroundColor);
  const painted = colours.find((colour) => !/, 0\\)$/.test(colour));
  const probe = document.createElement("div");
  probe.style.backgroundColor = painted ?? "Canvas";
  document.body.append(probe);
  const [red, green, blue] = getComputedStyle(probe).backgroundColor.match(/[\\d.]+/g).map(Number);
  probe.remove();
  return (red + green + blue) / 3;
})()`;

/**
 * Expects that the page fits the screen, cuts no text, has enough contrast, and the brightness of its scheme. With `PICTURES=FOLDER`, its
 * picture is written there.
 * @param label name of the view, for the message; by default its title
 */
export async function expectReadable(page: Page, { width, scheme }: Look, name: string, label = name): Promise<void> {
  const { PICTURES } = process.env;
  if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}-${width}-${scheme}.png`), fullPage: true });
  expect.soft(await page.evaluate(OVERFLOW_PIXELS), label).toBe(0);
  expect.soft(await page.evaluate(CUT_TEXTS), label).toEqual([]);
  expect.soft(await page.evaluate(LOW_CONTRAST_TEXTS), label).toEqual([]);
  expect.soft(await page.evaluate(BRIGHTNESS), label)[scheme === "dark" ? "toBeLessThan" : "toBeGreaterThan"](128);
}

/** Expects a readable page in both colour schemes, without opening it again. */
export async function expectReadableInBothSchemes(
  page: Page,
  width: number,
  name: string,
  label?: string,
): Promise<void> {
  for (const scheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    // Colours may take their time to change.
    await waitFor(page, "document.getAnimations().length === 0");
    await expectReadable(page, { width, scheme }, name, label);
  }
}
