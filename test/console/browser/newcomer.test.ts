import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { loudness } from "../../support/server-sound.ts";
import { PASSWORD, useConsole } from "./support/console.ts";
import { Speakers } from "./support/sound.ts";

describeEach([ON_NODE], (target) => {
  withTools("a newcomer in Chromium", ["chromium-headless-shell"], () => {
    const console = useConsole(target, {
      env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" },
      flags: ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"],
    });

    /** The page that a click opens in a new tab. */
    async function tabOf(page: Page, click: Promise<void>): Promise<Page> {
      const [tab] = await Promise.all([page.waitForEvent("popup"), click]);
      console.watch(tab);
      return tab;
    }

    test("registers, links a simulated phone, and hears the user's own call in a second tab", async () => {
      const page = await console.open();
      await page.goto(await console.registerUrl());
      await page.getByLabel("Email address").fill("ada@example.com");
      await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
      await page.getByRole("button", { name: "Create account" }).click();

      await page.getByRole("link", { name: "Add a number" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name", { exact: true }).fill("My phone");
      await dialog.getByRole("button", { name: "Add number" }).click();
      const linkTab = await tabOf(page, page.getByRole("link", { name: "Link a simulated phone" }).click());
      await linkTab.getByRole("button", { name: "Link this phone" }).click();
      await page.getByText(/^Linked as \+/).waitFor();
      await linkTab.close();

      await page.getByRole("link", { name: "Overview", exact: true }).click();
      const phone = await tabOf(page, page.getByRole("link", { name: "Open a phone" }).click());
      await phone.getByText("Ready", { exact: true }).waitFor();
      const speakers = await Speakers.of(phone);
      await phone.reload();
      await phone.getByText("Ready", { exact: true }).waitFor();

      await page.getByRole("link", { name: "Place a call" }).last().click();
      await page.getByLabel("Text", { exact: true }).fill("Hello, this is my very first call, and I can hear it.");
      await page.getByRole("button", { name: "Place the call" }).click();
      await phone.getByRole("button", { name: "Answer" }).click();
      await phone.getByRole("timer").waitFor();
      await speakers.forget();
      await phone.getByText("The caller hung up.").waitFor();
      expect(loudness(await speakers.takeSound())).toBeGreaterThan(500);
      await page.getByText("The whole message was played.", { exact: true }).waitFor();
    });
  });
});
