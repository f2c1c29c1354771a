import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ON_NODE, onEach, useServer } from "../support/server.ts";
import type { ProblemView } from "../support/server-client.ts";
import { inBrowser } from "./browser.ts";
import { folder, withTools } from "./tools.ts";

onEach([ON_NODE], (target) => {
  withTools("Chromium", ["chromium"], () => {
    const files = folder();
    for (const basePath of [undefined, "/api"])
      describe(basePath === undefined ? "at the root" : `below ${basePath}`, () => {
        const server = useServer(target, {
          env: { RINGPORT_SIMULATOR_TIME_SCALE: "1", RINGPORT_BASE_PATH: basePath },
        });
        const profile = () => join(files, `profile-${Math.random()}`);

        test("shows every operation on /docs and asks no other server for anything", async () => {
          await inBrowser(profile(), async (page) => {
            await page.open(`${server.base}/docs`);
            const operations = Object.values(server.document!.paths).flatMap((path) => Object.keys(path)).length;
            await page.waitFor(`document.querySelectorAll(".opblock").length >= ${operations}`);
            const asked = page.requests.filter((url) => !url.startsWith("data:") && !url.startsWith("blob:"));
            expect(asked.filter((url) => !url.startsWith(`${server.base}/`))).toEqual([]);
            expect(asked.length).toBeGreaterThan(3);
            expect(page.faults).toEqual([]);
          });
        });

        test("shows the code of a problem at its type, without other requests", async () => {
          const { type, code } = (await server.ask("GET", "/v1/calls")).json<ProblemView>();
          await inBrowser(profile(), async (page) => {
            await page.open(new URL(type, server.base).href);
            await page.waitFor(`document.querySelector(":target")?.textContent === "${code}"`);
            expect(await page.evaluate("document.querySelector(':target + p').textContent")).toMatch(
              /^401 A valid bearer/,
            );
            const asked = page.requests.filter((url) => !url.startsWith("data:"));
            expect(asked.filter((url) => !url.startsWith(`${server.base}/docs/errors`))).toEqual([]);
            expect(page.faults).toEqual([]);
          });
        });

        test("links a phone by the one button of the code's page", async () => {
          const client = await server.as("ada");
          const { id } = await client.createInstance("Reception & <b>desk</b>");
          const url = await client.linkUrl(id);
          await inBrowser(profile(), async (page) => {
            await page.open(url);
            await page.waitFor('document.querySelectorAll("button").length === 1');
            expect(await page.evaluate("document.querySelector('button').textContent")).toBe("Link this phone");
            expect(await page.evaluate("document.body.textContent")).toContain("Reception & <b>desk</b>");
            expect((await client.instance(id)).status).toBe("CREATED");
            await page.evaluate("document.querySelector('button').click()");
            await client.waitForInstance(id, "ACTIVE");
            await page.waitFor('document.querySelectorAll("button").length === 0');
            expect(page.requests.filter((asked) => !asked.startsWith(`${server.base}/`))).toEqual([]);
            // Opened once more, the code says kindly that it is used.
            await page.open(url);
            await page.waitFor('/no longer valid/i.test(document.querySelector("h1")?.textContent ?? "")');
          });
        });
      });
  });
});
