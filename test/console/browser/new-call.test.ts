import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import type { Client } from "../../support/server-client.ts";
import { loudness, toneMs, toneWav } from "../../support/server-sound.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type TestConsole, useConsole } from "./support/console.ts";
import { Speakers } from "./support/sound.ts";

const MICROPHONE_HZ = 1_300;
const microphone = join(temporaryFolder("microphone"), "beeps.wav");
writeFileSync(microphone, beeps());

/** Opens the form as a user with a linked number. */
async function openForm(console: TestConsole, query = ""): Promise<{ page: Page; client: Client; instanceId: string }> {
  const page = await console.signUp();
  const client = console.server.client(await console.tokenOf(page));
  const { id: instanceId } = await client.activeInstance("Front desk");
  await page.goto(`${console.url}/calls/new${query}`);
  await waitForPreselection(page);
  return { page, client, instanceId };
}

/** Waits until the only number that can call is preselected. */
async function waitForPreselection(page: Page): Promise<void> {
  await expect.poll(() => page.getByLabel("Your number").inputValue()).toMatch(/^inst_/);
}

/** Sends the form; returns the id of the call whose page opens. */
async function submitForm(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Place the call", exact: true }).click();
  await page.waitForURL(/\/calls\/call_\w+$/);
  return page.url().replace(/.*\//, "");
}

const number = (page: Page) => page.getByLabel("Phone number");
const text = (page: Page) => page.getByLabel("Text", { exact: true });

describeEach([ON_NODE], (target) => {
  withTools("the new-call form in Chromium", ["chromium-headless-shell", "curl"], () => {
    const console = useConsole(target, {
      env: { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_SIMULATOR_TIME_SCALE: "1" },
      flags: [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        `--use-file-for-fake-audio-capture=${microphone}`,
      ],
    });

    test("places a text call with all options, and again with the same form", async () => {
      const { page, client } = await openForm(console);
      await number(page).fill("+1 (202) 555-0100");
      await text(page).fill("It's ready: 3 < 5.");
      await page.getByText("More options").click();
      await page.getByLabel("Record the call").check();
      await page.getByLabel("Reference").fill("order-7");
      await page.getByLabel("Metadata").fill('{"order":7}');
      const id = await submitForm(page);
      expect((await client.waitForCall(id)).outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
      const call = await readCall(client, id, "reference,media");
      expect(call).toMatchObject({ target_phone: "+12025550100", reference: "order-7", metadata: { order: 7 } });
      expect(call).toMatchObject({
        media: { voice_id: "en-US-1", characters: 18, recording: { url: expect.any(String) } },
      });

      await page.getByRole("link", { name: "Call again" }).click();
      await page.getByText("The form has the values of the earlier call.").waitFor();
      expect([await text(page).inputValue(), await number(page).inputValue()]).toEqual([
        "It's ready: 3 < 5.",
        "+1 (202) 555-0100",
      ]);
      await page.reload();
      await page.getByText("Texts and files are not stored with a call").waitFor();
      expect([await text(page).inputValue(), await number(page).inputValue()]).toEqual(["", "+12025550100"]);
    });

    test("plays a dropped audio file", async () => {
      const { page, client } = await openForm(console, "?to=%2B12025550100");
      await page.getByText("An audio file").click();
      await page.evaluate(dropScript("tone.wav", toneWav({ hz: 700, ms: 1_500 })));
      await page.getByText("tone.wav").first().waitFor();
      // The preview can be played.
      const preview = page.getByLabel("Preview of tone.wav");
      await expect
        .poll(() => preview.evaluate((audio) => (audio as unknown as { duration: number }).duration))
        .toBeCloseTo(1.5, 1);
      const id = await submitForm(page);
      expect((await client.waitForCall(id)).outcome?.reason).toBe("message_played");
      expect(toneMs(await client.heard(id), 700)).toBeGreaterThan(1_400);
    });

    test("lets an agent follow a script, with variables", async () => {
      const { page, client } = await openForm(console, "?to=%2B12025550112");
      await page.getByText("An agent").click();
      await page.getByLabel("Instructions").fill("Ask visit: {{who}}, does Monday stand? Press 1 for yes, 2 for no.");
      await page.getByRole("button", { name: "Add a variable" }).click();
      await page.getByLabel("Name of variable 1").fill("who");
      await page.getByLabel("Value of variable 1").fill("Ana");
      const id = await submitForm(page);
      expect((await client.waitForCall(id)).outcome?.reason).toBe("agent_finished");
      expect(await readCall(client, id, "result")).toMatchObject({ result: { visit: "1" } });
    });

    test("carries the microphone to the callee, and the callee to the loudspeaker", async () => {
      const { page, client } = await openForm(console, "?to=%2B12025550106");
      const speakers = await Speakers.of(page);
      await page.reload();
      await waitForPreselection(page);
      await page.getByText("Your voice").click();
      await page.getByRole("button", { name: "Place the call and talk" }).click();
      await page.getByText("You are talking").waitFor();
      await expect.poll(async () => loudness(await speakers.takeSound()), { timeout: 15_000 }).toBeGreaterThan(300);
      const meter = page.getByRole("meter", { name: "You", exact: true });
      await expect
        .poll(() => meter.evaluate((element) => (element as unknown as { value: number }).value))
        .toBeGreaterThan(40);
      await page.getByRole("button", { name: "Mute" }).click();
      await page.getByText("You are muted").waitFor();
      await page.getByRole("button", { name: "Hang up" }).click();
      await page.getByText("You hung up.").waitFor();
      const link = await page.getByRole("link", { name: "Details of the call" }).getAttribute("href");
      const id = link?.replace(/.*\//, "") ?? "";
      expect((await client.waitForCall(id)).outcome).toMatchObject({ reason: "stream_closed" });
      expect(toneMs(await client.heard(id), MICROPHONE_HZ)).toBeGreaterThan(250);
      await page.getByRole("button", { name: "Call again" }).click();
      expect(await number(page).inputValue()).toBe("+12025550106");
    });

    test("shows each fault at its field, and scrolls to the first", async () => {
      const { page } = await openForm(console);
      await number(page).fill("030 1234");
      await page.getByRole("button", { name: "Place the call", exact: true }).click();
      await page.getByText("Must be an E.164 number: + and 7 to 15 digits, such as +12025550100.").waitFor();
      await page.getByText("The text must not be empty.").waitFor();
      await page.getByText("2 fields need your attention.").waitFor();
      await expect.poll(() => number(page).evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
      await number(page).fill("+12025550100");
      await page.getByText("1 field needs your attention.").waitFor();
    });

    test("places no second call on a busy number until the first is hung up", async () => {
      const { page, client } = await openForm(console, "?to=%2B12025550100");
      const { id: firstId } = await client.call(await instanceOf(page), { target: { phoneNumber: "+12025550102" } });
      await page.getByText("This number is on a call to +1 202 555 0102.").waitFor();
      await text(page).fill("Second.");
      await page.getByRole("button", { name: "Place the call", exact: true }).click();
      await page.getByText("No new call was placed").waitFor();
      await page.getByRole("button", { name: "Hang it up" }).click();
      expect((await client.waitForCall(firstId)).outcome?.reason).toBe("terminated");
      await page.getByText("No new call was placed").waitFor({ state: "detached" });
      const id = await submitForm(page);
      expect((await client.waitForCall(id)).outcome?.reason).toBe("message_played");
    });

    test("shows a curl command for the call", async () => {
      const { page, client } = await openForm(console, "?to=%2B12025550100");
      const words = `It's "quoted"; $HOME and \\n stay.`;
      await text(page).fill(words);
      const command = await page.getByRole("region", { name: "curl" }).innerText();
      const env = { ...process.env, RINGPORT_TOKEN: client.token };
      const { stdout } = await promisify(execFile)("sh", ["-c", command], { env });
      const { id } = JSON.parse(stdout) as { id: string };
      expect((await client.waitForCall(id)).outcome?.reason).toBe("message_played");
      expect(await readCall(client, id, "media")).toMatchObject({ media: { characters: words.length } });
    });
  });

  withTools("the new-call form without live streams", ["chromium-headless-shell"], () => {
    const console = useConsole(target);

    test("names the setting that enables streams", async () => {
      const { page } = await openForm(console);
      await page.getByText("Your voice").click();
      await page.getByText("Live streams are off on this server").waitFor();
      await page.getByRole("region", { name: "Live streams are off" }).getByText("RINGPORT_STREAM_PREVIEW=1").waitFor();
    });
  });
});

/** Script that drops a file onto the drop area. */
function dropScript(name: string, file: Buffer): string {
  return `{
    const bytes = Uint8Array.from(atob("${file.toString("base64")}"), (char) => char.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], ${JSON.stringify(name)}, { type: "audio/wav" }));
    const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector(".drop").dispatchEvent(drop);
  }`;
}

/** Reads a call with the objects that `expand` names. */
async function readCall(client: Client, id: string, expand: string): Promise<unknown> {
  return (await client.get(`/v1/calls/${id}?expand=${expand}`)).json();
}

async function instanceOf(page: Page): Promise<string> {
  return page.getByLabel("Your number").inputValue();
}

/** Half a second of beep, half a second of silence, at the sample rate of a microphone. */
function beeps(): Buffer {
  const wav = toneWav({ hz: MICROPHONE_HZ, ms: 1_000, sampleRate: 48_000 });
  wav.fill(0, 44 + 48_000);
  return wav;
}
