import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { useConsole } from "./support/console.ts";

describeEach([ON_NODE], (target) => {
  withTools("webhooks in Chromium", ["chromium-headless-shell"], () => {
    const console = useConsole(target, { env: { RINGPORT_WEBHOOKS_ALLOW_PRIVATE: "1" } });
    const receivedPaths: string[] = [];
    let endpoint: Server;
    let address = "";

    beforeAll(async () => {
      endpoint = createServer((request, response) => {
        request.resume().on("end", () => {
          receivedPaths.push(request.url ?? "");
          response.writeHead(request.url === "/gone" ? 410 : 204).end();
        });
      });
      await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
      address = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
    });
    afterAll(() => endpoint.close());

    test("a webhook shows its secret once, gets a test, and the delivery is replayed", async () => {
      const page = await console.signUp();
      await page.goto(`${console.url}/webhooks`);
      await page.getByRole("button", { name: "Add a webhook" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Address").fill(`${address}/hook`);
      await dialog.getByLabel("Description").fill("<b>CRM</b>");
      await dialog.getByText("How calls end").click();
      await dialog.getByRole("button", { name: "Add webhook" }).click();
      const secret = dialog.getByRole("status", { name: "Secret" });
      expect(await secret.innerText()).toMatch(/^whsec_/);
      // Neither Escape nor a second press hides the secret.
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await secret.waitFor();
      await dialog.getByRole("button", { name: "I have stored it" }).click();
      await page.getByRole("heading", { name: "<b>CRM</b>" }).waitFor();
      expect(await page.content()).not.toContain("whsec_");

      await page.getByRole("button", { name: "Send a test" }).click();
      const rows = page.getByRole("row").filter({ hasText: "webhook.test" });
      await rows.filter({ hasText: "Delivered" }).waitFor();
      await rows.getByRole("button", { name: /^Replay webhook.test/ }).click();
      await expect.poll(() => rows.filter({ hasText: "204" }).count()).toBe(2);
      expect(receivedPaths.filter((path) => path === "/hook")).toHaveLength(2);
      await page.getByLabel("Show").selectOption("failed");
      await page.getByText("No delivery has this status.").waitFor();
    });

    test("a 410 from the endpoint disables the webhook, and the page shows that without a reload", async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id } = (await client.post("/v1/webhooks", { url: `${address}/gone` })).json<{ id: string }>();
      await page.goto(`${console.url}/webhooks/${id}`);
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByText(/responded with 410/).waitFor();
      await page.getByRole("button", { name: "Enable", exact: true }).click();
      await page.getByText("Enabled", { exact: true }).waitFor();

      await page.getByRole("button", { name: "Delete webhook" }).click();
      await page
        .getByRole("dialog")
        .getByText(/deliveries are deleted with it/)
        .waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Delete webhook" }).click();
      await page.getByText("No webhook yet").waitFor();
    });
  });
});
