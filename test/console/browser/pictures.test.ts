import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import type { Client } from "../../support/server-client.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { useConsole } from "./support/console.ts";
import { copyCall } from "./support/copied-calls.ts";
import { waitUntilLoaded } from "./support/looks.ts";

/** With `UPDATE_DOCS=1` the README's pictures are rewritten. */
const FOLDER = process.env.UPDATE_DOCS
  ? fileURLToPath(new URL("../../../docs/images/", import.meta.url))
  : (process.env.PICTURES ?? temporaryFolder("pictures"));
const MAX_BYTES = 150_000;
const DAY_MS = 86_400_000;
const PHONE = "+12025550147";

describeEach([ON_NODE], (target) => {
  withTools("the README's pictures", ["chromium-headless-shell"], () => {
    const console = useConsole(target, { env: { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_SIMULATOR_TIME_SCALE: "1" } });

    async function takePicture(page: Page, name: string): Promise<void> {
      const path = join(FOLDER, `console-${name}.png`);
      await page.screenshot({ path, animations: "disabled" });
      expect(statSync(path).size, name).toBeLessThan(MAX_BYTES);
    }

    test("show an overview, a call and a phone that rings", { timeout: 120_000 }, async () => {
      const page = await console.signUp({ width: 1280 });
      await page.setViewportSize({ width: 1280, height: 800 });
      const client = console.server.client(await console.tokenOf(page));
      const { id: instanceId } = await client.activeInstance("Riverside clinic");
      const callId = await placeAgentCall(client, instanceId);

      const failingNumbers = { busy: "+12025550101", declined: "+12025550103", missing: "+12025550108" };
      for (const [reason, phoneNumber] of Object.entries(failingNumbers)) {
        const { id } = await client.call(instanceId, { target: { phoneNumber } });
        await client.waitForCall(id);
        copyCall(console.server, id, daysAgo(reason === "busy" ? 7 : reason === "declined" ? 11 : 17));
      }
      copyCall(console.server, callId, daysAgo(1));

      const phone = await console.openSecondTab(page);
      await phone.setViewportSize({ width: 390, height: 573 });
      await phone.goto(`${console.url}/phone?number=${encodeURIComponent(PHONE)}`);
      await phone.getByText("Ready", { exact: true }).waitFor();
      const text = "Hello, this is the Riverside clinic. Your appointment is tomorrow at ten.";
      await client.call(instanceId, { target: { phoneNumber: PHONE }, tts: { text, voiceId: "en-US-1" } });
      await phone.getByRole("button", { name: "Answer" }).waitFor();
      await page.goto(console.url);
      await waitUntilLoaded(page);
      await page.getByText(PHONE.slice(-4)).first().waitFor();
      await page.setViewportSize({ width: 1280, height: 640 });
      await takePicture(page, "overview");
      await page.setViewportSize({ width: 1280, height: 800 });
      await phone.bringToFront();
      await phone.getByRole("heading", { name: "Phone" }).click(); // it may now ring audibly
      await takePicture(phone, "phone");
      await phone.getByRole("button", { name: "Decline" }).click();

      await page.bringToFront();
      await page.goto(`${console.url}/calls/${callId}`);
      await waitUntilLoaded(page);
      await page.getByRole("region", { name: "What the callee heard" }).getByRole("slider").waitFor();
      await takePicture(page, "call");
    });
  });
});

/** A recorded call in which an agent asks, and the callee presses a key. */
async function placeAgentCall(client: Client, instanceId: string): Promise<string> {
  const { id } = await client.call(instanceId, {
    type: "DYNAMIC_AGENT",
    tts: undefined,
    target: { phoneNumber: "+12025550112" },
    recording: true,
    reference: "appointment 1071",
    agent: {
      instructions: [
        "Say: Hello, this is an automated call from the Riverside clinic.",
        "Ask appointment: Your appointment is tomorrow at ten. Press 1 to keep it, or 2 to cancel it.",
        "If 1 or yes: say: Good, we expect you at ten.",
        "If 2 or no: say: Your appointment is cancelled.; hang up",
        "Say: Thank you. Goodbye.",
      ],
    },
  });
  await client.waitForCall(id, undefined, 60_000);
  return id;
}

/** Times in the last two weeks, in hours, more on some days than on others. @param every interval between the calls of each kind */
function daysAgo(every: number): number[] {
  const hours = Array.from({ length: 14 }, (_, day) =>
    Array.from({ length: 3 + ((day * 7) % 9) + (day % 3) }, (_, i) => day * DAY_MS + (i + 1) * 900_000),
  ).flat();
  return hours.filter((_, i) => i % every === 0);
}
