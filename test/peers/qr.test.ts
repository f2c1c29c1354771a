import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";
import { send } from "../support/server-http.ts";
import { useBrowser, waitFor } from "./browser.ts";
import { expectReadable, LOOKS } from "./readable.ts";
import { folder, run, withTools } from "./tools.ts";

const TITLE = 'document.querySelector("h1").textContent';
const IMAGE = 'document.querySelector("img").src';

describeEach([ON_NODE], (target) => {
  withTools("the QR code", ["zbarimg"], () => {
    const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" } });
    const files = folder();

    test("is read by zbarimg, and its text links the phone", async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance();
      const response = expected(200, await client.get(`/v1/instances/${id}/configure`));
      const png = join(files, "code.png");
      writeFileSync(png, Buffer.from(response.json<{ qrCodeBase64: string }>().qrCodeBase64, "base64"));
      const text = run("zbarimg", "--quiet", "--raw", png).trim();
      expect(text).toMatch(new RegExp(`^${server.base}/simulator/link/[^/\\s]+$`));
      expect((await send("POST", text)).status).toBe(200);
      await client.waitForInstance(id, "ACTIVE");
    });
  });

  withTools("the link page", ["zbarimg", "chromium-headless-shell"], () => {
    const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" } });
    const files = folder();
    const browser = useBrowser();

    test.each(LOOKS)(
      "at $width px in $scheme mode is scanned off the screen, and shows the number without a reload",
      async (look) => {
        const client = await server.as("ada");
        const { id } = await client.createInstance("Front <desk>");
        const creation = expected(201, await client.post(`/v1/instances/${id}/link-page`, {}));
        const { url } = creation.json<{ url: string }>();
        const { page, requests, faults } = await browser.open(look);
        await page.goto(url);
        await waitFor(page, `${TITLE} === "Link this phone"`);
        await expectReadable(page, look, "link-page");
        // Codes rotate every 20 s.
        const firstImage = await page.evaluate<string>(IMAGE);
        if (look === LOOKS[0]) await waitFor(page, `${IMAGE} !== ${JSON.stringify(firstImage)}`, 60_000);
        const screen = join(files, "screen.png");
        await page.screenshot({ path: screen, fullPage: true });
        const text = run("zbarimg", "--quiet", "--raw", screen).trim();
        expect(text).toMatch(new RegExp(`^${server.base}/simulator/link/[^/\\s]+$`));
        expect((await send("POST", text)).status).toBe(200);
        await waitFor(page, `${TITLE} === "Linked"`);
        expect(await page.evaluate("document.querySelector('main').textContent")).toContain(
          "“Front <desk>” now places",
        );
        await expectReadable(page, look, "link-page-linked");
        const otherUrls = requests.filter((requestUrl) => !requestUrl.startsWith("data:") && requestUrl !== url);
        expect([otherUrls, faults]).toEqual([[], []]);
        await client.waitForInstance(id, "ACTIVE");
      },
    );
  });
});
