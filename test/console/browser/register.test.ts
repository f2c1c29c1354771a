import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { PASSWORD, useConsole } from "./support/console.ts";

describeEach([ON_NODE], (target) => {
  withTools("the console in Chromium", ["chromium-headless-shell", "curl"], () => {
    describe("on a new server", () => {
      const console = useConsole(target);

      test("the first person registers at the printed address, and their new token works in curl", async () => {
        const page = await console.open();
        // Most people open the front page first, then follow the instructions in the same tab.
        await page.goto(console.server.base);
        await page.getByRole("heading", { name: "Welcome to Ringport" }).waitFor();
        await page.goto(await console.registerUrl());
        await page.getByText("Your code was taken from the address.").waitFor();
        expect(page.url()).toBe(`${console.url}/register`);
        await page.getByLabel("Email address").fill("ada@example.com");
        await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
        await page.getByRole("button", { name: "Create account" }).click();
        await page.getByRole("heading", { name: "Overview" }).waitFor();

        await page.getByRole("link", { name: "Tokens" }).click();
        await page.getByRole("button", { name: "Create token" }).first().click();
        const dialog = page.getByRole("dialog");
        await dialog.getByLabel("Name").fill("laptop");
        await dialog.getByRole("button", { name: "Create token" }).click();
        const command = await dialog.locator("pre").innerText();
        expect(command).toContain("/v1/instances");
        const commandOutput = execFileSync("bash", ["-c", command], { encoding: "utf8" });
        expect(JSON.parse(commandOutput)).toMatchObject({ name: "Front desk", status: "CREATED" });
        await dialog.getByRole("button", { name: "I have copied it" }).click();
        await page.getByRole("cell", { name: "laptop", exact: true }).waitFor();
      });

      test("no script can read the session and browser cookies, and no other path gets them", async () => {
        const page = await console.signUp();
        await page.goto(console.url);
        await page.getByRole("heading", { name: "Overview" }).waitFor();
        const attributes = { httpOnly: true, sameSite: "Lax", path: "/console", secure: false };
        expect(await page.context().cookies()).toMatchObject([
          { name: expect.stringMatching(/^ringport_session/), ...attributes },
          { name: expect.stringMatching(/^ringport_device/), ...attributes },
        ]);
        expect(await page.evaluate("document.cookie")).toBe("");
        const response = await page.request.get(`${console.server.base}/v1/instances`);
        expect(response.status()).toBe(401);
      });

      test("signing out in one tab signs out all", async () => {
        const page = await console.signUp();
        const otherTab = await console.openSecondTab(page);
        for (const tab of [page, otherTab]) {
          console.expectFaults(tab, /401/);
          await tab.goto(`${console.url}/account`);
          await tab.getByRole("heading", { name: "Account", exact: true }).waitFor();
        }
        await page.getByRole("button", { name: "Sign out", exact: true }).click();
        for (const tab of [page, otherTab]) await tab.getByRole("heading", { name: "Sign in" }).waitFor();
        // The browser stays recognized, but no longer has a session.
        expect((await page.context().cookies()).map(({ name }) => name)).toEqual([
          expect.stringMatching(/^ringport_device/),
        ]);
      });

      test("a wrong password is refused like an unknown address, and the form stays open", async () => {
        const page = await console.open();
        console.expectFaults(page, /403/);
        await page.goto(`${console.url}/sign-in`);
        const alertTexts: string[] = [];
        for (const email of ["ada@example.com", "nobody@example.com"]) {
          await page.getByLabel("Email address").fill(email);
          await page.getByLabel("Password", { exact: true }).fill("a wrong password");
          await page.getByRole("button", { name: "Sign in" }).click();
          await page.getByRole("button", { name: "Sign in", disabled: false }).waitFor();
          alertTexts.push(await page.getByRole("alert").innerText());
        }
        expect(alertTexts[0]).not.toBe("");
        expect(alertTexts[1]).toBe(alertTexts[0]);
      });

      test("the language follows the browser, and can be changed", async () => {
        const page = await console.open({}, { locale: "pt-BR" });
        await page.goto(`${console.url}/sign-in`);
        await page.getByRole("heading", { name: "Entrar" }).waitFor();
        expect(await page.locator("html").getAttribute("lang")).toBe("pt");
        await page.getByRole("combobox", { name: "Idioma" }).selectOption("English");
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
        await page.reload();
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
        expect(await page.locator("html").getAttribute("lang")).toBe("en");
      });
    });
  });
});
