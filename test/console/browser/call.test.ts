import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { tone } from "../../../src/audio/tones/tone.ts";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { type Client, until } from "../../support/server-client.ts";
import { loudness, toneMs } from "../../support/server-sound.ts";
import { openStream } from "../../support/stream-client.ts";
import { useConsole } from "./support/console.ts";
import { expectGoodLooks, waitUntilLoaded } from "./support/looks.ts";
import { Speakers } from "./support/sound.ts";

/** Answers, speaks a sentence, then listens. */
const SPEAKER = "+12025550106";
const BUSY_NUMBER = "+12025550101";
const TONE_HZ = 700;

describeEach([ON_NODE], (target) => {
  withTools("a call's page in Chromium", ["chromium-headless-shell"], () => {
    const console = useConsole(target, { env: { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_SIMULATOR_TIME_SCALE: "1" } });

    async function signUpWithInstance(): Promise<{ page: Page; client: Client; instanceId: string }> {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id: instanceId } = await client.activeInstance("Front desk");
      return { page, client, instanceId };
    }

    test("lets its user listen live, muted at first, and records it", async () => {
      const { page, client, instanceId } = await signUpWithInstance();
      const speakers = await Speakers.of(page);
      const stream = { type: "DYNAMIC_STREAM", tts: undefined, target: { phoneNumber: SPEAKER } };
      const { id } = await client.call(instanceId, stream);
      const caller = await openStream(console.server.base, id, { token: client.token, query: { sample_rate: 16_000 } });
      await caller.write(tone(TONE_HZ, 30_000, 16_000, 9_000));
      await page.goto(`${console.url}/calls/${id}`);
      const timeline = page.getByRole("region", { name: "Timeline" });
      await timeline.getByText("Picked up").waitFor();
      await page.getByRole("button", { name: "Listen", exact: true }).click();
      await page.getByText("Muted", { exact: true }).waitFor();
      const level = page.getByRole("meter", { name: "Level: Your side" });
      await expect.poll(() => level.getAttribute("aria-valuenow").then(Number)).toBeGreaterThan(50);
      expect(loudness(await speakers.takeSound())).toBe(0);
      await speakers.forget();
      await page.getByRole("button", { name: "Unmute" }).click();
      await expect.poll(async () => toneMs(await speakers.takeSound(), TONE_HZ)).toBeGreaterThan(2_000);
      await timeline.getByText("A listener has joined the call").waitFor();
      await page.getByRole("button", { name: "Stop listening" }).click();
      await timeline.getByText(/^The listener left after /).waitFor();
      expect((await client.readCall(id)).status).toBe("IN_PROGRESS");
      await page.getByRole("button", { name: "Hang up" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Hang up" }).click();
      await page.getByText("The call was hung up on our side.", { exact: true }).waitFor();
      expect((await caller.closed()).code).toBe(4010);
    });

    test("shows how the call ended, and the recording for a keyboard", async () => {
      const { page, client, instanceId } = await signUpWithInstance();
      const tts = { text: "Your parcel arrives tomorrow, between nine and ten in the morning.", voiceId: "en-US-1" };
      const { id } = await client.call(instanceId, { target: { phoneNumber: SPEAKER }, tts, recording: true });
      await page.goto(`${console.url}/calls/${id}`);
      await page.getByText("The whole message was played.", { exact: true }).waitFor();
      const recording = page.getByRole("region", { name: "Recording" });
      const position = recording.getByRole("slider", { name: "Position" });
      await position.waitFor();
      await position.press("End");
      const length = Number(await position.getAttribute("aria-valuemax"));
      expect(length).toBeGreaterThan(2);
      expect(Number(await position.getAttribute("aria-valuenow"))).toBe(length);
      await position.press("Home");
      await recording.getByRole("button", { name: "Play" }).click();
      await until(
        () => position.getAttribute("aria-valuenow"),
        (seconds) => Number(seconds) >= 1,
        10_000,
        "the recording plays",
      );
      await page.getByRole("region", { name: "What the callee heard" }).getByRole("slider").waitFor();
      await expectGoodLooks(page, "call");
    });

    test("shows the audio quality over time, during the call and after it", async () => {
      const { page, client, instanceId } = await signUpWithInstance();
      const stream = { type: "DYNAMIC_STREAM", tts: undefined, target: { phoneNumber: SPEAKER } };
      const { id } = await client.call(instanceId, stream);
      const caller = await openStream(console.server.base, id, { token: client.token });
      await page.goto(`${console.url}/calls/${id}`);
      const quality = page.getByRole("region", { name: "Media quality" });
      await quality.getByText(/^No figures yet/).waitFor();
      const intervals = quality.getByRole("table", { name: "Media quality over time" }).locator("tbody tr");
      await expect.poll(() => intervals.count(), { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
      expect((await client.readCall(id)).status).toBe("IN_PROGRESS");
      // The simulated network loses nothing, moves its frames a little late, and has no remote side that reports.
      await quality.getByRole("listitem").filter({ hasText: "Lost on the way to us" }).getByText(/^0%, /).waitFor();
      const jitter = quality.getByRole("listitem").filter({ hasText: "Jitter" });
      await jitter.getByText(/^[\d.]+ ms, at most [\d.]+ ms$/).waitFor();
      expect(await jitter.locator("svg path").getAttribute("d")).toMatch(/^M0 32V/);
      await quality.getByRole("listitem").filter({ hasText: "Round trip" }).getByText("not measured").waitFor();
      await expectGoodLooks(page, "call-live");

      await client.send("DELETE", `/v1/calls/${id}`, {});
      await quality.getByText("L16").waitFor();
      expect((await caller.closed()).code).toBe(4010);
      const intervalCount = await intervals.count();
      expect(intervalCount).toBeGreaterThanOrEqual(3);
      await page.reload();
      await expect.poll(() => intervals.count()).toBe(intervalCount);
      await expectGoodLooks(page, "call-quality");
    });

    test("names the fix for a failed call, and calls again", async () => {
      const { page, client, instanceId } = await signUpWithInstance();
      const { id } = await client.call(instanceId, { target: { phoneNumber: BUSY_NUMBER } });
      await client.waitForCall(id);
      await page.goto(`${console.url}/calls/${id}`);
      await page.getByText("The callee is on another call.", { exact: true }).waitFor();
      await page.getByText("Try again later.", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Call again" }).click();
      await waitUntilLoaded(page);
      expect(new URL(page.url()).search).toBe(`?from=${id}`);
    });

    test("shows no call to other users", async () => {
      const { client, instanceId } = await signUpWithInstance();
      const { id } = await client.call(instanceId);
      const stranger = await console.signUp();
      console.expectFaults(stranger, /404/);
      await stranger.goto(`${console.url}/calls/${id}`);
      await stranger.getByText(/There is no such call/).waitFor();
    });
  });
});
