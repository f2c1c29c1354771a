import { expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_OTHER_RUNTIMES } from "../../support/server.ts";
import { useConsole } from "./support/console.ts";

describeEach(
  ON_OTHER_RUNTIMES.filter(({ runtime }) => runtime.name !== "node22"),
  (target) => {
    withTools("the console in Chromium", ["chromium-headless-shell"], () => {
      const console = useConsole(target, { env: { RINGPORT_BASE_PATH: "/voice" } });

      test("shows a live call under a base path", async () => {
        const page = await console.signUp();
        const client = console.server.client(await console.tokenOf(page));
        await page.goto(`${console.url}/calls`);
        await page.getByText("No calls yet").waitFor();
        const { id: instanceId } = await client.activeInstance();
        await client.call(instanceId);
        await page.getByText("Message played").waitFor();
        await page.getByRole("link", { name: "+1 202 555 0100" }).click();
        await page.getByText("The whole message was played.").first().waitFor();
        expect(page.url()).toMatch(/\/voice\/console\/calls\/call_/);
      });
    });
  },
);
