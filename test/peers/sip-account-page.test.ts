import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import { callees, type FarEnd, startFarEnd } from "../support/sip/far-end.ts";
import { useBrowser, waitFor } from "./browser.ts";
import { expectReadableInBothSchemes, WIDTHS } from "./readable.ts";
import { withTools } from "./tools.ts";

describeEach([ON_NODE], (target) => {
  withTools("Chromium on the page for SIP accounts", ["chromium-headless-shell"], () => {
    const browser = useBrowser();
    const server = useServer(target, {
      env: { RINGPORT_SIP_ACCOUNTS: "on", RINGPORT_SIP_ACCOUNTS_ALLOW_PRIVATE: "1", RINGPORT_BASE_PATH: "/api" },
    });
    let farEnd: FarEnd;
    beforeAll(async () => {
      farEnd = await startFarEnd({
        callees: { "+12025550100": callees.answers },
        registrar: { challenge: { user: "tom", password: "s3cret" } },
      });
    });
    afterAll(() => farEnd.close());

    test.each(WIDTHS)("fits %i px in both schemes: the form, its error and its success", async (width) => {
      const client = await server.as("ada");
      const { id } = await client.createInstance("Reception");
      const url = await client.linkUrl(id);
      const { page } = await browser.open({ width });
      const link = async (password: string): Promise<void> => {
        for (const [name, value] of Object.entries({ server: `127.0.0.1:${farEnd.port}`, user: "tom", password }))
          await page.evaluate(`document.querySelector('[name="${name}"]').value = ${JSON.stringify(value)}`);
        await page.evaluate("document.querySelector('button').click()");
      };
      await page.goto(url);
      await waitFor(page, 'document.querySelectorAll("button").length === 1');
      await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
      await expectReadableInBothSchemes(page, width, "sip");
      await link("wrong");
      await waitFor(page, '/401/.test(document.querySelector("[role=alert]")?.textContent ?? "")');
      await expectReadableInBothSchemes(page, width, "sip-fault");
      await link("s3cret");
      await waitFor(page, 'document.querySelector("h1")?.textContent === "Linked"');
      await expectReadableInBothSchemes(page, width, "sip-linked");
    });

    test("shows the fault, keeps the input, and links the number", async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance("Reception & <b>desk</b>");
      const url = await client.linkUrl(id);
      const { page, requests, faults } = await browser.open();
      const fill = (name: string, value: string) =>
        page.evaluate(`document.querySelector('[name="${name}"]').value = ${JSON.stringify(value)}`);
      const submit = () => page.evaluate("document.querySelector('button').click()");
      await page.goto(url);
      await waitFor(page, 'document.querySelectorAll("button").length === 1');
      expect(await page.evaluate("document.body.textContent")).toContain("Reception & <b>desk</b>");
      // The browser itself checks required fields; labels are matched by whole words.
      expect(await page.evaluate("document.querySelector('form').checkValidity()")).toBe(false);
      expect(await page.evaluate("document.querySelector('[name=password]').labels[0].textContent")).toMatch(
        /^Password/,
      );

      await fill("server", `127.0.0.1:${farEnd.port}`);
      await fill("user", "tom");
      await fill("password", "wrong");
      await submit();
      await waitFor(page, '/401/.test(document.querySelector("[role=alert]")?.textContent ?? "")');
      expect(await page.evaluate("document.querySelector('[name=server]').value")).toBe(`127.0.0.1:${farEnd.port}`);
      expect(await page.evaluate("document.querySelector('[name=password]').value")).toBe("");
      expect((await client.instance(id)).status).toBe("CREATED");

      await fill("password", "s3cret");
      await submit();
      await waitFor(page, 'document.querySelector("h1")?.textContent === "Linked"');
      await client.waitForInstance(id, "ACTIVE");
      expect(requests.filter((requestUrl) => !requestUrl.startsWith(`${server.base}/sip/link/`))).toEqual([]);
      expect(faults.filter((fault) => !fault.includes("422"))).toEqual([]);
      const { id: callId } = await client.call(id, { target: { phoneNumber: "+12025550100" } });
      expect((await client.waitForCall(callId)).outcome?.reason).toBe("message_played");
      expect(farEnd.calls).toHaveLength(1);
      expect(server.output).not.toContain("s3cret");
    });
  });
});
