import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Look } from "../../../peers/browser.ts";
import { expectReadable } from "../../../peers/readable.ts";
import { seriousFindings } from "./axe.ts";

/** A phone, a tablet and a desktop, by day and by night. */
export const LOOKS: readonly Look[] = [360, 768, 1440].flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => ({ width, scheme })),
);

const { PICTURES } = process.env;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

/** Waits until a view has loaded everything. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page.waitForLoadState("load");
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
}

/**
 * Expects the current page to fit every screen, to be readable in both schemes, and to have no serious axe-core findings.
 * With `PICTURES=FOLDER`, its pictures are written there.
 */
export async function expectGoodLooks(page: Page, name: string, looks = LOOKS): Promise<void> {
  for (const look of looks) {
    await page.setViewportSize({ width: look.width, height: 900 });
    await page.emulateMedia({ colorScheme: look.scheme, reducedMotion: "reduce" });
    const label = `${name} at ${look.width} px, ${look.scheme}`;
    await expectReadable(page, look, `console-${name}`, label);
    // Contrast is checked above, at every size.
    if (look.width === (look.scheme === "light" ? 360 : 1440))
      expect.soft(await seriousFindings(page), label).toEqual([]);
  }
}
