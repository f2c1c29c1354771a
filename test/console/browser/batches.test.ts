import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import type { Client } from "../../support/server-client.ts";
import { useConsole } from "./support/console.ts";
import { expectGoodLooks, waitUntilLoaded } from "./support/looks.ts";

const LOOKS = [360, 768, 1280].flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ width, scheme })));

describeEach([ON_NODE], (target) => {
  withTools("batches in Chromium", ["chromium-headless-shell"], () => {
    const console = useConsole(target);

    test("a batch is in the list, and its page shows its outcomes and downloads its results", async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id: instanceId } = await client.activeInstance("Front desk");
      await startBatch(client, instanceId, ["+12025550101", "+12025550108", "+12025550103"]);
      await page.goto(`${console.url}/batches`);
      await page.getByRole("row").filter({ hasText: "Appointments" }).getByText("3 of 3 done").waitFor();
      await expectGoodLooks(page, "batches", LOOKS);
      await page.getByRole("link", { name: "Appointments" }).click();
      await page.getByText("Completed", { exact: true }).first().waitFor();
      const outcomes = page.getByRole("region", { name: "Outcomes" });
      await outcomes.getByText("Busy").waitFor();
      await outcomes.getByText("No such number").waitFor();
      await waitUntilLoaded(page);
      await expectGoodLooks(page, "batch-completed", LOOKS);
      expect(await downloadText(page, "Download results (CSV)")).toMatch(/^\ufeffposition,[\s\S]*\+12025550101,.*busy/);
    });

    test("a running batch shows its message, its rules and what people wait for", { timeout: 120_000 }, async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id: instanceId } = await client.activeInstance("Front desk");
      const text = `Hello {{name}}. ${"This message is a long one, with many words. ".repeat(8)}`.trim();
      const id = await startBatch(client, instanceId, ["+12025550101", "+12025550110", "+12025550100"], {
        message: { type: "FIXED_TTS", tts: { text, voiceId: "en-US-1" }, onMachine: "hang_up" },
        retry: { on: ["busy", "machine"], times: 2, afterMs: 900_000 },
        schedule: { hours: { from: "00:00", to: "24:00", days: [1, 2, 3, 4, 5, 6, 7] }, zone: "UTC" },
      });
      await page.goto(`${console.url}/batches/${id}`);
      const people = page.getByRole("table", { name: "People of the batch, in order" });
      await people.getByText(/next call in 1[45] minutes/).waitFor();
      await page.getByText("1 after “Busy”").waitFor();
      await people.getByText("Waits for a free line").waitFor();
      const summary = page.getByRole("region", { name: "Message and rules" });
      await summary.getByText("Busy, Voicemail: 2 more calls, after 15 minutes").waitFor();
      await summary.getByRole("button", { name: "Show all" }).click();
      await summary.getByText(text).waitFor();
      await summary.getByRole("button", { name: "Show less" }).click();
      await waitUntilLoaded(page);
      await expectGoodLooks(page, "batch-running", LOOKS);
      await page.evaluate(() => localStorage.setItem("ringport-language", "pt"));
      await page.reload();
      await page.getByRole("region", { name: "Mensagem e regras" }).waitFor();
      await page.getByText("1 depois de “Ocupado”").waitFor();
      await expectGoodLooks(page, "batch-running-pt", LOOKS);
    });

    test("a list is imported, corrected in place, started, paused and cancelled", { timeout: 120_000 }, async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      await client.activeInstance("Front desk");
      await page.goto(`${console.url}/batches`);
      await page.getByRole("link", { name: "New batch" }).click();
      await page.getByRole("textbox", { name: "Name", exact: true }).fill("Friday");
      await page.getByLabel("Text", { exact: true }).fill("Hello {{name}}, see you at {{time}}.");
      const open = (csv: string) =>
        page
          .getByLabel("CSV file")
          .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
      await open("%PDF-1.7\n1 0 obj\n");
      await page.getByText("people.csv: the file is a PDF, not a CSV file: export it as CSV.").waitFor();
      await open("name,phone,phone\nAna,+12025550102,+12025550103\n");
      await page.getByText('people.csv: two columns are named "phone"').waitFor();
      expect(await page.getByText("the file is a PDF").count()).toBe(0);
      await page.getByLabel("Not before").fill("2026-01-01T10:00");
      await page.getByText("This time is in the past.").waitFor();
      await page.getByLabel("Not before").fill("");
      await open("name,phone,mobile\nAna,+12025550102,+12025550103\n");
      await page.getByText("The numbers of “phone” are called.").waitFor();
      await page.getByLabel("Column with the numbers").selectOption("mobile");
      await page.getByText("The numbers of “phone” are called.").waitFor({ state: "detached" });
      const csv = "contact;name;when\n+12025550102;Ana;ten\n12;Rui;ten\n+12025550100;;ten\n";
      await open(csv);
      await page.getByText("No column looks like phone numbers").waitFor();
      await page.getByLabel("Column with the numbers").selectOption("contact");
      await page.getByText(/The message needs \{\{time\}\}/).waitFor();
      await expectGoodLooks(page, "new-batch", LOOKS);
      await page.getByLabel("Column for {{time}}").selectOption("when");
      await page.getByText(/The message needs/).waitFor({ state: "detached" });
      console.expectFaults(page, /status of 400 .*\/v1\/batches$/);
      await page.getByLabel("Text", { exact: true }).fill("Hello {{name}}, see you at {{time}}, {{");
      await page.getByRole("button", { name: "Check the plan" }).click();
      await page.getByText('"{{" is not closed: write {{name}}').waitFor();
      await page.getByLabel("Text", { exact: true }).fill("Hello {{name}}, see you at {{time}}.");
      await page.getByRole("button", { name: "Check the plan" }).click();

      await page.getByRole("heading", { name: "2 rows with problems" }).waitFor();
      await page.getByRole("region", { name: "Message and rules" }).getByText("No retries").waitFor();
      await page.getByRole("button", { name: "Start without the 2 invalid rows" }).waitFor();
      await waitUntilLoaded(page);
      await page.getByRole("button", { name: "Correct row 3" }).click();
      await page.getByLabel("Number").fill("+1 202 555 0107");
      await expectGoodLooks(page, "batch-draft", LOOKS);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "1 row with problems" }).waitFor();
      await page.getByRole("button", { name: "Remove row 4" }).click();
      await page.getByRole("button", { name: "Start the calls" }).click();

      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByText("The batch is paused").waitFor();
      await expectGoodLooks(page, "batch-paused", LOOKS);
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("button", { name: "Pause" }).waitFor();
      await page.getByRole("button", { name: "Cancel batch" }).click();
      await page.getByLabel("End live calls now").check();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel batch" }).click();
      await page.getByText("Cancelled", { exact: true }).first().waitFor();
    });
  });
});

async function startBatch(
  client: Client,
  instanceId: string,
  numbers: readonly string[],
  fields: object = {},
): Promise<string> {
  const response = await client.post("/v1/batches", {
    name: "Appointments",
    instanceIds: [instanceId],
    message: { type: "FIXED_TTS", tts: { text: "Hello {{name}}", voiceId: "en-US-1" } },
    targets: numbers.map((phoneNumber, index) => ({ phoneNumber, variables: { name: `Ana ${index}` } })),
    start: true,
    ...fields,
  });
  return response.json<{ id: string }>().id;
}

async function downloadText(page: Page, button: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button }).click(),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
