import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import type { ProblemView } from "../support/server-client.ts";
import { useBrowser, waitFor } from "./browser.ts";
import { expectReadable, LOOKS } from "./readable.ts";
import { withTools } from "./tools.ts";

/** The token that the interactive page sends. */
const AUTHORIZED = 'ui.getState().getIn(["auth", "authorized", "bearer", "value"])';
/** Types into the input of an element, as a person does. */
const typeInto = (element: string, text: string) => `{
  const input = ${element}.querySelector("input");
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, "${text}");
  input.dispatchEvent(new Event("input", { bubbles: true }));
  input.dispatchEvent(new Event("change", { bubbles: true }));
}`;
/** Opens a schema on the interactive page, which renders schemas only on scrolling if there are 100 or more. */
async function openSchema(page: Page, schema: string): Promise<void> {
  const opener = `[...document.querySelectorAll(".json-schema-2020-12-accordion")].find(({ textContent }) => textContent === "${schema}")`;
  await waitFor(page, `${opener} !== undefined || document.querySelector(".models-scroll")?.scrollBy(0, 200) === null`);
  await page.evaluate(`${opener}.click()`);
  await waitFor(page, `${opener}.querySelector(".json-schema-2020-12-accordion__icon--expanded") !== null`);
}
describeEach([ON_NODE], (target) => {
  withTools("Chromium", ["chromium-headless-shell"], () => {
    const browser = useBrowser();
    for (const basePath of [undefined, "/api"])
      describe(basePath === undefined ? "at the root" : `below ${basePath}`, () => {
        const server = useServer(target, {
          env: { RINGPORT_SIMULATOR_TIME_SCALE: "1", RINGPORT_BASE_PATH: basePath },
        });
        const openDocs = async (page: Page) => {
          await page.goto(`${server.base}/docs`);
          await waitFor(page, 'document.querySelectorAll(".opblock").length > 10');
        };
        /** Opens an operation to be tried; returns the expression for its element. */
        const tryOut = async (page: Page, operation: string): Promise<string> => {
          const element = `document.querySelector("[id$=${operation}]")`;
          await page.evaluate(`${element}.querySelector("button").click()`);
          await waitFor(page, `${element}.querySelector(".try-out__btn") !== null`);
          await page.evaluate(`${element}.querySelector(".try-out__btn").click()`);
          return element;
        };

        test("shows every operation on /docs without requests to other servers", async () => {
          const { page, requests, faults } = await browser.open();
          await page.goto(`${server.base}/docs`);
          const operations = Object.values(server.document!.paths).flatMap((path) => Object.keys(path)).length;
          await waitFor(page, `document.querySelectorAll(".opblock").length >= ${operations}`);
          const urls = requests.filter((url) => !url.startsWith("data:") && !url.startsWith("blob:"));
          expect(urls.filter((url) => !url.startsWith(`${server.base}/`))).toEqual([]);
          expect(urls.length).toBeGreaterThan(3);
          expect(faults).toEqual([]);
        });

        test("shows the code of a problem at its type, without other requests", async () => {
          const { type, code } = (await server.request("GET", "/v1/calls")).json<ProblemView>();
          const { page, requests, faults } = await browser.open();
          await page.goto(new URL(type, server.base).href);
          await waitFor(page, `document.querySelector(":target")?.textContent === "${code}"`);
          expect(await page.evaluate("document.querySelector(':target + p').textContent")).toMatch(
            /^401 A valid bearer/,
          );
          const urls = requests.filter((url) => !url.startsWith("data:"));
          expect(urls.filter((url) => !url.startsWith(`${server.base}/docs/errors`))).toEqual([]);
          expect(faults).toEqual([]);
        });

        test.skipIf(basePath !== undefined).each(LOOKS)(
          "every page fits $width px and is $scheme",
          async ({ width, scheme }) => {
            const { id } = await (await server.as("ada")).createInstance("Reception");
            const link = await (await server.as("ada")).linkUrl(id);
            const { page } = await browser.open({ width, scheme });
            const expectView = (name: string, label?: string) => expectReadable(page, { width, scheme }, name, label);
            for (const [name, url, condition] of [
              ["errors", `${server.base}/docs/errors`, 'document.querySelector("#not_found") !== null'],
              [
                "nothing",
                `${server.base}/docs/nothing`,
                '/no such page/.test(document.querySelector("h1").textContent)',
              ],
              ["docs", `${server.base}/docs`, 'document.querySelectorAll(".opblock").length > 10'],
              ["link", link, 'document.querySelector("button") !== null'],
            ] as const) {
              await page.goto(url);
              await waitFor(page, condition);
              await expectView(name, url);
            }
            await page.evaluate("document.querySelector('button').click()");
            await waitFor(page, 'document.querySelectorAll("button").length === 0');
            await expectView("linked");
            await page.goto(link);
            await waitFor(page, '/no longer valid/i.test(document.querySelector("h1")?.textContent ?? "")');
            await expectView("used");

            await openDocs(page);
            await page.evaluate(`ui.preauthorizeApiKey("bearer", "${(await server.as("ada")).token}")`);
            const create = await tryOut(page, "createCall");
            await waitFor(page, `${create}.querySelector(".execute") !== null`);
            await page.evaluate(`${create}.querySelector(".execute").click()`);
            await waitFor(page, `${create}.querySelector(".live-responses-table") !== null`);
            for (const schema of ["Outcome", "CreateCall"]) {
              await openSchema(page, schema);
              await expectView(`docs-${schema}`);
            }
            await page.evaluate('document.querySelector(".btn.authorize").click()');
            await waitFor(page, 'document.querySelector(".auth-container input") !== null');
            await expectView("docs-authorize");
          },
        );

        test.skipIf(basePath !== undefined)("/docs plays a voice's sample", async () => {
          const { token } = await server.as("ada");
          const { page, faults } = await browser.open();
          await openDocs(page);
          await page.evaluate(`ui.preauthorizeApiKey("bearer", "${token}")`);
          const sample = await tryOut(page, "hearVoice");
          await waitFor(page, `${sample}.querySelector("input") !== null`);
          await page.evaluate(typeInto(sample, "en-US-1"));
          await waitFor(page, 'JSON.stringify(ui.getState().getIn(["spec", "meta"])).includes("en-US-1")');
          await page.evaluate(`${sample}.querySelector(".execute").click()`);
          await waitFor(page, 'document.querySelector("audio")?.duration > 0.5');
          expect(faults).toEqual([]);
        });

        test.skipIf(basePath !== undefined)("/docs keeps the token for the tab until Logout", async () => {
          const { token } = await server.as("ada");
          const { page, faults } = await browser.open();
          await openDocs(page);
          const dialog = 'document.querySelector(".auth-container")';
          const button = (name: string) =>
            `[...document.querySelectorAll(".auth-btn-wrapper button")].find((one) => one.textContent === "${name}")`;
          await page.evaluate('document.querySelector(".btn.authorize").click()');
          await waitFor(page, `${dialog}?.querySelector("input") != null`);
          await page.evaluate(typeInto(dialog, token!));
          await page.evaluate(`${button("Authorize")}.click()`);
          await waitFor(page, `${button("Logout")} !== undefined`);
          await openDocs(page);
          await waitFor(page, `${AUTHORIZED} === "${token}"`);
          // An operation without a token keeps it.
          const health = await tryOut(page, "-health");
          await waitFor(page, `${health}.querySelector(".execute") !== null`);
          await page.evaluate(`${health}.querySelector(".execute").click()`);
          await waitFor(page, `${health}.querySelector(".live-responses-table") !== null`);
          await openDocs(page);
          await waitFor(page, `${AUTHORIZED} === "${token}"`);
          await page.evaluate('document.querySelector(".btn.authorize").click()');
          await waitFor(page, `${button("Logout")} !== undefined`);
          await page.evaluate(`${button("Logout")}.click()`);
          await waitFor(page, `(${AUTHORIZED} ?? null) === null`);
          await openDocs(page);
          expect(await page.evaluate(`${AUTHORIZED} ?? null`)).toBeNull();
          expect(await page.evaluate("sessionStorage.length")).toBe(0);
          expect(faults).toEqual([]);
        });

        test("links a phone with the only button of the code's page", async () => {
          const client = await server.as("ada");
          const { id } = await client.createInstance("Reception & <b>desk</b>");
          const url = await client.linkUrl(id);
          const { page, requests } = await browser.open();
          await page.goto(url);
          await waitFor(page, 'document.querySelectorAll("button").length === 1');
          expect(await page.evaluate("document.querySelector('button').textContent")).toBe("Link this phone");
          expect(await page.evaluate("document.body.textContent")).toContain("Reception & <b>desk</b>");
          expect((await client.instance(id)).status).toBe("CREATED");
          await page.evaluate("document.querySelector('button').click()");
          await client.waitForInstance(id, "ACTIVE");
          await waitFor(page, 'document.querySelectorAll("button").length === 0');
          expect(requests.filter((urls) => !urls.startsWith(`${server.base}/`))).toEqual([]);
          // Opened again, the code's page explains that it was used.
          await page.goto(url);
          await waitFor(page, '/no longer valid/i.test(document.querySelector("h1")?.textContent ?? "")');
        });
      });
  });
});
