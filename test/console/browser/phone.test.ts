import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { type Client, until } from "../../support/server-client.ts";
import { loudness, type Sound, toneMs, toneWav } from "../../support/server-sound.ts";
import { openStream } from "../../support/stream-client.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { useConsole } from "./support/console.ts";
import { Speakers } from "./support/sound.ts";

const PHONE = "+12025550147";
const TONE_HZ = 700;
/** Input of the fake microphone, in a loop: a beep and a pause, which no browser filters as noise. */
const MICROPHONE_HZ = 1_300;
const microphone = join(temporaryFolder("microphone"), "beeps.wav");
writeFileSync(microphone, beeps());

describeEach([ON_NODE], (target) => {
  withTools("a phone in Chromium", ["chromium-headless-shell"], () => {
    const console = useConsole(target, {
      env: { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_SIMULATOR_TIME_SCALE: "1" },
      flags: [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        `--use-file-for-fake-audio-capture=${microphone}`,
      ],
    });

    /** A user with a linked instance and a phone in the browser. */
    async function signUpWithPhone(): Promise<{ page: Page; client: Client; instanceId: string; speakers: Speakers }> {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id: instanceId } = await client.activeInstance("Front desk");
      const speakers = await Speakers.of(page);
      await openPhone(page);
      return { page, client, instanceId, speakers };
    }

    async function openPhone(page: Page): Promise<void> {
      await page.goto(`${console.url}/phone?number=${encodeURIComponent(PHONE)}`);
      await page.getByText("Ready", { exact: true }).waitFor();
      await page.getByRole("heading", { name: "Phone", exact: true }).click(); // browsers play no sound before the first touch
    }

    const phoneTarget = { target: { phoneNumber: PHONE } };

    test("rings, is answered, plays every word of a FIXED_TTS call, and is free again", async () => {
      const { page, client, instanceId, speakers } = await signUpWithPhone();
      const text = "Your parcel arrives tomorrow, between nine and ten in the morning.";
      const { id } = await client.call(instanceId, { ...phoneTarget, tts: { text, voiceId: "en-US-1" } });
      await page.getByRole("alert").getByText("Incoming call").waitFor();
      await expect.poll(() => page.title()).toMatch(/is calling$/);
      expect((await client.readCall(id)).status).toBe("RINGING");
      await expect.poll(async () => loudness(await speakers.takeSound())).toBeGreaterThan(500);
      await page.getByRole("button", { name: "Answer" }).click();
      await page.getByRole("timer").waitFor();
      await speakers.forget();
      const { outcome } = await client.waitForCall(id);
      expect(outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
      await page.getByText("The caller hung up.").waitFor();
      const heard = await speakers.takeSound();
      // As loud and as long as the audio that the server has sent.
      const sentAudio = await client.heard(id);
      expect(loudMs(heard) / loudMs(sentAudio)).toBeGreaterThan(0.85);
      expect(loudness(loudOf(heard)) / loudness(loudOf(sentAudio))).toBeCloseTo(1, 0);
      await page.getByText("Ready", { exact: true }).waitFor();
    });

    test("the microphone and the keys reach the client of a stream, whose audio is played", async () => {
      const { page, client, instanceId, speakers } = await signUpWithPhone();
      const { id } = await client.call(instanceId, { ...phoneTarget, type: "DYNAMIC_STREAM", tts: undefined });
      const stream = await openStream(console.server.base, id, {
        token: client.token,
        query: { audio: "callee", sample_rate: 16_000 },
      });
      await page.getByRole("button", { name: "Answer" }).click();
      await stream.event("answered");
      await speakers.forget();
      await stream.write(tone());
      // Beeps of the fake microphone.
      await until(
        () => toneMs(stream.sound(16_000), MICROPHONE_HZ),
        (ms) => ms > 500,
        15_000,
        "the microphone",
      );
      await page.getByRole("button", { name: "Key 5" }).click();
      await page.keyboard.press("#");
      await until(
        () => stream.events.filter(({ event }) => event === "dtmf").map(({ digit }) => digit),
        (digits) => digits.length === 2,
        10_000,
        "two keys",
      ).then((digits) => expect(digits).toEqual(["5", "#"]));

      await expect.poll(async () => toneMs(await speakers.takeSound(), TONE_HZ)).toBeGreaterThan(1_400);
      await page.getByRole("button", { name: "Mute" }).click();
      await page.getByRole("button", { name: "Muted" }).waitFor();
      stream.sendMessage({ type: "mark", name: "muted" });
      const before = stream.frames.length;
      await until(
        () => stream.frames.length,
        (frames) => frames > before + 75,
        10_000,
        "1.5 s of silence",
      );
      const calleeSound = stream.sound(16_000);
      expect(toneMs({ ...calleeSound, samples: calleeSound.samples.subarray(-16_000) }, MICROPHONE_HZ)).toBe(0);

      await page.getByRole("button", { name: "Hang up" }).click();
      await page.getByText("You hung up.").waitFor();
      await stream.closed();
      expect((await client.waitForCall(id)).outcome?.reason).toBe("callee_hung_up");
    });

    test("declines, and the caller hangs up while it rings", async () => {
      const { page, client, instanceId } = await signUpWithPhone();
      const declinedCall = await client.call(instanceId, phoneTarget);
      await page.getByRole("button", { name: "Decline" }).click();
      expect((await client.waitForCall(declinedCall.id)).outcome?.reason).toBe("declined");
      await page.getByText("The call was declined.").waitFor();

      const call = await client.call(instanceId, phoneTarget);
      await page.getByRole("button", { name: "Answer" }).waitFor();
      await client.delete(`/v1/calls/${call.id}`);
      await page.getByText("You missed the call.").waitFor();
      await page.getByText("Ready", { exact: true }).waitFor();
    });

    test("rings in two tabs; the answering one has the call", async () => {
      const { page, client, instanceId } = await signUpWithPhone();
      const otherTab = await console.openSecondTab(page);
      await openPhone(otherTab);
      const { id } = await client.call(instanceId, phoneTarget);
      for (const tab of [page, otherTab]) await tab.getByRole("button", { name: "Answer" }).waitFor();
      await otherTab.getByRole("button", { name: "Answer" }).click();
      await page.getByText("Answered on another phone with this number.").waitFor();
      expect((await client.waitForCall(id)).outcome?.reason).toBe("message_played");
    });

    test("another person's calls do not ring", async () => {
      const { page } = await signUpWithPhone();
      const stranger = console.server.client(await console.tokenOf(await console.signUp()));
      const { id: instanceId } = await stranger.activeInstance("Shop");
      const { id } = await stranger.call(instanceId, phoneTarget);
      expect((await stranger.waitForCall(id)).outcome?.reason).toBe("message_played");
      await page.getByText("Ready", { exact: true }).waitFor();
      expect(await page.getByText("Last call").count()).toBe(0);
    });
  });
});

function tone(): Int16Array {
  const wav = toneWav({ hz: TONE_HZ, ms: 2_000 });
  return Int16Array.from({ length: (wav.length - 44) / 2 }, (_, i) => wav.readInt16LE(44 + 2 * i));
}

/** Half a second of beep, half a second of silence, at the sample rate of a microphone. */
function beeps(): Buffer {
  const wav = toneWav({ hz: MICROPHONE_HZ, ms: 1_000, sampleRate: 48_000 });
  wav.fill(0, 44 + 48_000);
  return wav;
}

/** Parts louder than a whisper, in steps of 20 ms. */
function loudOf({ samples, sampleRate }: Sound): Sound {
  const size = sampleRate / 50;
  const loudSamples: number[] = [];
  for (let at = 0; at + size <= samples.length; at += size) {
    const window = samples.subarray(at, at + size);
    if (loudness({ samples: window, sampleRate }) > 200) loudSamples.push(...window);
  }
  return { samples: Int16Array.from(loudSamples), sampleRate };
}

function loudMs(sound: Sound): number {
  const loudSound = loudOf(sound);
  return (loudSound.samples.length * 1000) / loudSound.sampleRate;
}
