import { join } from "node:path";
import { expect, test } from "vitest";
import { run, withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { useConsole } from "./support/console.ts";

describeEach([ON_NODE], (target) => {
  withTools("numbers in Chromium", ["chromium-headless-shell", "zbarimg"], () => {
    const console = useConsole(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" } });
    const files = temporaryFolder("screens");

    test("a number is added, its code scanned off the screen, and ACTIVE appears without a reload", async () => {
      const page = await console.signUp();
      await page.goto(`${console.url}/instances`);
      await page.getByRole("button", { name: "Add a number" }).first().click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name", { exact: true }).fill("Front desk");
      await dialog.getByRole("button", { name: "Add number" }).click();
      await page.getByRole("heading", { name: "Front desk" }).waitFor();
      await page.getByRole("img", { name: "QR code that links the phone" }).waitFor();
      const screen = join(files, "code.png");
      await page.screenshot({ path: screen, fullPage: true });
      const address = run("zbarimg", "--quiet", "--raw", screen).trim();
      expect(address).toMatch(new RegExp(`^${console.server.base}/simulator/link/[^/\\s]+$`));

      // The phone's owner uses a separate browser.
      const phone = await console.open({ width: 360 });
      await phone.goto(address);
      await phone.getByRole("button", { name: "Link this phone" }).click();
      await page.getByText(/^Linked as \+/).waitFor();
      await page.getByText("Active", { exact: true }).first().waitFor();
    });

    test("the link page shows the code without an account, and another tab notices the phone", async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id } = await client.createInstance("Reception");
      await page.goto(`${console.url}/instances/${id}`);
      const list = await console.openSecondTab(page);
      await list.goto(`${console.url}/instances`);
      await list.getByText("Reception").waitFor();
      await page.getByText("Is the phone somewhere else?").click();
      await page.getByRole("button", { name: "Make a link" }).click();
      const address = await page.getByRole("status", { name: "Link for the phone's owner" }).innerText();

      const owner = await console.open({ width: 360 });
      await owner.goto(address);
      await owner.getByRole("heading", { name: "Link this phone" }).waitFor();
      const screen = join(files, "owner.png");
      await owner.screenshot({ path: screen });
      const phone = await console.open();
      await phone.goto(run("zbarimg", "--quiet", "--raw", screen).trim());
      await phone.getByRole("button", { name: "Link this phone" }).click();
      await owner.getByRole("heading", { name: "Linked" }).waitFor();
      await page.getByText(/^Linked as \+/).waitFor();
      await list.getByText("Active", { exact: true }).waitFor();
    });

    test("a phone is unlinked after confirmation, and another one linked instead", async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id } = await client.activeInstance("Night desk");
      await page.goto(`${console.url}/instances/${id}`);
      await page.getByRole("button", { name: "Unlink phone" }).click();
      const dialog = page.getByRole("dialog", { name: "Unlink the phone of “Night desk”?" });
      await dialog.getByText(/is unlinked, and its credentials are erased/).waitFor();
      await dialog.getByRole("button", { name: "Unlink phone" }).click();
      await page.getByText("The phone of “Night desk” was unlinked.").waitFor();
      await page.getByRole("img", { name: "QR code that links the phone" }).waitFor();
      expect(await page.getByRole("button", { name: "Unlink phone" }).count()).toBe(0);
      const linkUrl = await client.linkUrl(id);
      const phone = await console.open();
      await phone.goto(linkUrl);
      await phone.getByRole("button", { name: "Link this phone" }).click();
      await page.getByText(/^Linked as \+/).waitFor();
      await page.goto(`${console.url}/audit`);
      await page.getByText("Unlinked a number").waitFor();
    });

    test("a deletion names its consequences first", async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id } = await client.activeInstance("Old desk");
      console.expectFaults(page, /404/); // the deletion event arrives before the number's page is left
      await page.goto(`${console.url}/instances/${id}`);
      await page.getByRole("button", { name: "Delete number" }).click();
      const dialog = page.getByRole("dialog", { name: "Delete “Old desk”?" });
      await dialog.getByText(/is unlinked, and its credentials are erased/).waitFor();
      await dialog.getByRole("button", { name: "Delete number" }).click();
      await page.getByText("“Old desk” was deleted.").waitFor();
      await expect.poll(async () => (await client.get(`/v1/instances/${id}`)).status).toBe(404);
    });
  });
});
