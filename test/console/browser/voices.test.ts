import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { atFileEnd } from "../../support/file-end.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { toneWav } from "../../support/server-sound.ts";
import { speechServer } from "../../support/speech-server.ts";
import { useConsole } from "./support/console.ts";
import { expectGoodLooks, waitUntilLoaded } from "./support/looks.ts";

const speech = await speechServer();
atFileEnd(() => speech.close());
const VOICES = {
  "pt-BR-20": { voice: "pf_dora" },
  "pt-BR-21": { voice: "pm_alex" },
  "en-US-20": { voice: "af_heart" },
};

/** The voice that the form would send, according to the curl example. */
async function requestedVoice(page: Page): Promise<string | undefined> {
  const command = await page.getByRole("region", { name: "curl" }).innerText();
  return /"voiceId":\s*"([^"]+)"/.exec(command)?.[1];
}

const languageOf = (page: Page): Locator => page.getByRole("combobox", { name: "Language of the voice" });
const options = (page: Page): Locator => page.getByRole("listbox").getByRole("option");
const row = (page: Page, name: string): Locator => page.getByRole("radio", { name });
const hasFocus = (locator: Locator) => locator.evaluate((element) => element === element.ownerDocument.activeElement);

describeEach([ON_NODE], (target) => {
  withTools("the form's voices in Chromium", ["chromium-headless-shell"], () => {
    const console = useConsole(target, {
      env: {
        RINGPORT_SPEECH_URL: speech.baseUrl,
        RINGPORT_SPEECH_MODEL: "kokoro",
        RINGPORT_SPEECH_VOICES: JSON.stringify(VOICES),
      },
    });

    async function onForm(locale: string, width = 1280): Promise<Page> {
      const page = await console.signUp({ width }, { locale });
      await page.goto(`${console.url}/calls/new`);
      await waitUntilLoaded(page);
      await page.getByRole("radiogroup").waitFor();
      return page;
    }

    describe("the language", () => {
      test("begins with the browser's, in its best voice", async () => {
        const page = await onForm("pt-BR");
        const field = page.getByRole("combobox", { name: "Idioma da voz" });
        expect(await field.inputValue()).toBe("Português (Brasil)");
        expect(await page.getByRole("radiogroup", { name: "Vozes para Português (Brasil)" }).innerText()).toMatch(
          /^Melhor voz deste servidor\s+Dora · pt-BR-1\s+natural\s+Alex\s+pt-BR-21\s+natural\s+eSpeak\s+pt-BR-9\s+robótica$/,
        );
        await expect.poll(() => requestedVoice(page)).toBe("pt-BR-1");
        await field.click();
        const texts = await options(page).allInnerTexts();
        expect(texts.slice(0, 3)).toEqual([
          expect.stringMatching(/^Português \(Brasil\) pt-BR\s+natural$/),
          "Português (Portugal) pt-PT",
          "Africâner (África do Sul) af-ZA",
        ]);
      });

      test("is found by its name, its English name and its tag", async () => {
        const page = await onForm("pt-BR");
        const field = page.getByRole("combobox", { name: "Idioma da voz" });
        for (const query of ["alemao", "GERMAN", "de-de"]) {
          await field.fill(query);
          await expect.poll(() => options(page).allInnerTexts()).toEqual([expect.stringContaining("Alemão")]);
        }
        await field.fill("klingon");
        await page.getByText('Nenhum idioma corresponde a "klingon".').waitFor();
      });

      test("and the voice can be chosen by keyboard alone", async () => {
        const page = await onForm("en-US");
        await expect.poll(() => requestedVoice(page)).toBe("en-US-1");
        await page.getByLabel("Text", { exact: true }).focus();
        await page.keyboard.press("Tab");
        expect(await hasFocus(languageOf(page))).toBe(true);
        await page.keyboard.type("port braz");
        await expect.poll(() => options(page).count()).toBe(1);
        await page.keyboard.press("Enter");
        expect(await options(page).count()).toBe(0);
        expect(await languageOf(page).inputValue()).toBe("Portuguese (Brazil)");
        await expect.poll(() => requestedVoice(page)).toBe("pt-BR-1");

        await page.keyboard.press("Tab");
        expect(await hasFocus(row(page, "Best voice on this server"))).toBe(true);
        await page.keyboard.press("ArrowDown");
        await expect.poll(() => requestedVoice(page)).toBe("pt-BR-21");
        const [sample] = await Promise.all([
          page.waitForRequest(/\/v1\/voices\/pt-BR-21\/sample\.wav$/),
          page.keyboard.press("Enter"),
        ]);
        expect((await sample.response())?.status()).toBe(200);
        expect(page.url(), "Enter placed no call").toMatch(/\/calls\/new$/);
        await page.getByRole("button", { name: "Stop the sample of Alex" }).waitFor();
        await page.keyboard.press("Tab");
        expect(await hasFocus(page.getByRole("button", { name: /Alex/ }))).toBe(true);
      });

      test("moves by arrow keys, and Escape leaves it as it was", async () => {
        const page = await onForm("en-US");
        await languageOf(page).focus();
        await page.keyboard.press("ArrowDown");
        const activeOption = () =>
          languageOf(page).evaluate(
            (field) => field.ownerDocument.getElementById(field.getAttribute("aria-activedescendant")!)?.textContent,
          );
        await expect.poll(activeOption).toMatch(/^English \(United States\)/);
        await page.keyboard.press("ArrowDown");
        await expect.poll(activeOption).toMatch(/^English \(Caribbean\)/);
        await page.keyboard.press("ArrowUp");
        await page.keyboard.press("ArrowUp");
        await expect.poll(activeOption).toMatch(/^Yue|^Vietnamese|^Welsh/);
        await page.keyboard.press("Escape");
        await expect.poll(() => options(page).count()).toBe(0);
        expect(await languageOf(page).inputValue()).toBe("English (United States)");
        expect(await requestedVoice(page)).toBe("en-US-1");
      });
    });

    test("one sample plays at a time, and ends automatically", async () => {
      const page = await onForm("en-US");
      const minute = { contentType: "audio/wav", body: toneWav({ hz: 440, ms: 60_000 }) };
      await page.route("**/en-US-{1,2}/sample.wav", (route) => route.fulfill(minute));
      const listen = (name: string) => page.getByRole("button", { name: `Listen to ${name}` });
      const stop = (name: string) => page.getByRole("button", { name: `Stop the sample of ${name}` });
      await listen("RMS").click();
      await stop("RMS").waitFor();
      await listen("Best voice on this server").click();
      await stop("Best voice on this server").waitFor();
      expect(await listen("RMS").count()).toBe(1);
      await stop("Best voice on this server").click();
      await listen("Best voice on this server").waitFor();
      await listen("KAL16").click();
      await stop("KAL16").waitFor();
      await listen("KAL16").waitFor(); // at its end
      expect(await requestedVoice(page), "listening chooses nothing").toBe("en-US-1");
    });

    test("a sample that loads or fails is shown", async () => {
      const page = await onForm("en-US");
      console.expectFaults(page, /503/);
      const arrival = Promise.withResolvers<void>();
      await page.route("**/sample.wav", async (route) => {
        await arrival.promise;
        await route.fulfill({ status: 503, body: "{}" });
      });
      await page.getByRole("button", { name: "Listen to RMS" }).click();
      await page.getByRole("button", { name: "Loading the sample of RMS" }).waitFor();
      arrival.resolve();
      await page.getByRole("alert").getByText("The sample could not be played").waitFor();
      await page.unroute("**/sample.wav");
      await page.getByRole("button", { name: "Listen to RMS" }).click();
      await page.getByRole("button", { name: "Stop the sample of RMS" }).waitFor();
      expect(await page.getByText("The sample could not be played").count()).toBe(0);
    });

    test("variants are listed on request, and a selected one stays listed", async () => {
      const page = await onForm("pt-BR");
      await page.getByLabel("Mostrar variantes").check();
      await row(page, "eSpeak, feminina 2").check();
      await expect.poll(() => requestedVoice(page)).toBe("pt-BR-2");
      await page.getByLabel("Mostrar variantes").uncheck();
      await expect.poll(() => row(page, "pt-BR-3").count()).toBe(0);
      expect(await row(page, "pt-BR-2 não está nesta lista").isChecked()).toBe(true);
      expect(await requestedVoice(page)).toBe("pt-BR-2");
    });

    test("an agent speaks in the voice of its language, unless one is chosen", async () => {
      const page = await onForm("en-US");
      await page.getByText("An agent").click();
      const languageVoice = row(page, "The voice of the language");
      expect(await languageVoice.isChecked()).toBe(true);
      expect(await requestedVoice(page)).toBeUndefined();
      await row(page, "RMS").check();
      await expect.poll(() => requestedVoice(page)).toBe("en-US-2");
      await languageVoice.check();
      await expect.poll(() => requestedVoice(page)).toBeUndefined();
    });

    test.each([360, 768, 1280])("each voice has room in a long list, %i px wide", async (width) => {
      const page = await onForm("pt-BR", width);
      await page.getByLabel("Mostrar variantes").check();
      await row(page, "eSpeak, feminina 2").waitFor();
      const rows = await page
        .locator(".voice-row")
        .evaluateAll((elements) => elements.map(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight]));
      expect(rows.length).toBeGreaterThan(5);
      expect(rows.filter(([room = 0, needed = 0]) => needed > room)).toEqual([]);
    });

    test("the voices are readable everywhere, and do not shift the page", async () => {
      const page = await onForm("en-US", 360);
      const fieldBelow = page.getByLabel("If a machine answers");
      const fieldTop = () =>
        fieldBelow.evaluate(
          (element) => element.getBoundingClientRect().y + element.ownerDocument.defaultView!.scrollY,
        );
      const before = await fieldTop();
      await languageOf(page).fill("pt-br");
      await page.keyboard.press("Enter");
      await page.getByLabel("Show variants").check();
      await row(page, "eSpeak, male 3").waitFor();
      expect(await fieldTop()).toBe(before);
      await expectGoodLooks(page, "voices", [
        { width: 360, scheme: "light" },
        { width: 768, scheme: "dark" },
        { width: 1280, scheme: "light" },
        { width: 1280, scheme: "dark" },
      ]);
      await languageOf(page).click();
      await expectGoodLooks(page, "voices-languages", [
        { width: 360, scheme: "light" },
        { width: 360, scheme: "dark" },
        { width: 768, scheme: "light" },
        { width: 1280, scheme: "dark" },
      ]);
    });
  });
});
