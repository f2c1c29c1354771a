import { createClient } from "ringport/client";
import { describe, expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { PASSWORD, useConsole } from "./support/console.ts";

describeEach([ON_NODE], (target) => {
  withTools("the console's shell in Chromium", ["chromium-headless-shell"], () => {
    describe("a signed-in user", () => {
      const console = useConsole(target);

      test("gets focus on each new page's heading, and its title", async () => {
        const page = await console.signUp();
        await page.goto(console.url);
        await page.getByRole("heading", { name: "Overview" }).waitFor();
        for (const [link, heading] of [
          ["Tokens", "Tokens"],
          ["Calls", "Calls"],
        ] as const) {
          await page.getByRole("navigation").getByRole("link", { name: link }).click();
          await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
          await page.waitForFunction(`document.activeElement?.tagName === "H1"`);
          await expect.poll(() => page.title()).toBe(`${heading} · Ringport`);
        }
        await page.goBack();
        await page.getByRole("heading", { name: "Tokens", level: 1 }).waitFor();
        await expect.poll(() => page.title()).toBe("Tokens · Ringport");
      });

      test("skips the navigation with the first Tab key", async () => {
        const page = await console.signUp();
        await page.goto(console.url);
        await page.getByRole("heading", { name: "Overview" }).waitFor();
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        expect(await page.evaluate("document.activeElement?.id")).toBe("main");
      });

      test("sees a message for an unknown address, with a link back", async () => {
        const page = await console.signUp();
        await page.goto(`${console.url}/nothing/here`);
        await page.getByRole("heading", { name: "There is no such page" }).waitFor();
        await page.getByRole("link", { name: "Go to the overview" }).click();
        await page.getByRole("heading", { name: "Overview" }).waitFor();
      });

      test("sees calls start and end, even one placed while the connection was lost", async () => {
        const page = await console.signUp();
        console.expectFaults(page, /ERR_INTERNET_DISCONNECTED/);
        const client = createClient({ url: console.server.base, token: await console.tokenOf(page) });
        await page.goto(console.url);
        const { id: instanceId } = await client.instances.create({ name: "Front desk" });
        const place = (phoneNumber: string) =>
          client.calls.create({ instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber } });
        const row = (number: string) => page.getByRole("link", { name: number });
        await page.getByText("No call at the moment.").waitFor();

        const first = await place("+12025550111");
        await row("+1 202 555 0111").waitFor();
        await client.calls.hangUp(first.id);
        await row("+1 202 555 0111").waitFor({ state: "detached" });

        await page.context().setOffline(true);
        await place("+12025550112");
        await page.getByText("The server does not respond.").waitFor({ timeout: 60_000 });
        await page.context().setOffline(false);
        await row("+1 202 555 0112").waitFor({ timeout: 30_000 });
        await page.getByText("The server does not respond.").waitFor({ state: "detached" });
      });

      test("revokes a token with a hostile name, after confirmation", async () => {
        const page = await console.signUp();
        await page.goto(`${console.url}/tokens`);
        const name = `<img src=x onerror="document.title='owned'">`;
        await page.getByRole("button", { name: "Create token" }).first().click();
        const dialog = page.getByRole("dialog");
        await dialog.getByLabel("Name").fill(name);
        await dialog.getByRole("button", { name: "Create token" }).click();
        const token = await dialog.getByRole("status", { name: "Token" }).innerText();
        await dialog.getByRole("button", { name: "I have copied it" }).click();
        await page.getByRole("cell", { name, exact: true }).waitFor();
        const client = createClient({ url: console.server.base, token });
        await client.calls.page();

        await page.getByRole("button", { name: `Revoke ${name}` }).click();
        await dialog.getByText("Programs that use it are refused from now on").waitFor();
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
        await client.calls.page();

        await page.getByRole("button", { name: `Revoke ${name}` }).click();
        await dialog.getByRole("button", { name: "Revoke" }).click();
        await page.getByRole("cell", { name, exact: true }).waitFor({ state: "detached" });
        await expect(client.calls.page()).rejects.toMatchObject({ code: "unauthorized" });
        await expect.poll(() => page.title()).toBe("Tokens · Ringport");
      });

      test("signs in again with the printed address, and other browsers are signed out", async () => {
        const page = await console.signUp();
        console.expectFaults(page, /401/);
        await page.goto(`${console.url}/account`);
        const email = await page.locator(".page-lead").innerText();
        const { stdout } = await console.server.cli("account", "reset", email);
        const address = /\/reset#code=[\w-]+/.exec(stdout)?.[0];
        const otherPage = await console.open();
        await otherPage.goto(console.url + address);
        await otherPage.getByRole("heading", { name: "Choose a new password" }).waitFor();
        expect(otherPage.url()).toBe(`${console.url}/reset`);
        await otherPage.getByLabel("New password").fill("a new and longer password");
        await otherPage.getByRole("button", { name: "Save and sign in" }).click();
        await otherPage.getByRole("heading", { name: "Overview" }).waitFor();
        await page.reload();
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
      });

      test("deletes the account only with the password, and is then signed out", async () => {
        await console.signUp(); // the administrator, who stays
        const page = await console.signUp();
        console.expectFaults(page, /403|401/);
        await page.goto(`${console.url}/account`);
        await page.getByRole("button", { name: "Delete account…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByText("permanently").waitFor();
        await dialog.getByLabel("Your password").fill("not the password");
        await dialog.getByRole("button", { name: "Delete everything" }).click();
        await dialog.getByRole("alert").waitFor();
        await dialog.getByLabel("Your password").fill(PASSWORD);
        await dialog.getByRole("button", { name: "Delete everything" }).click();
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
      });
    });
  });
});
