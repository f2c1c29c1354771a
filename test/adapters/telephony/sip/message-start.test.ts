import { describe, expect, test } from "vitest";
import { concatPcm } from "../../../../src/audio/samples/pcm.ts";
import { DtmfDetector } from "../../../../src/audio/tones/dtmf.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";
import { toneMs, toneShare, toneWav } from "../../../support/server-sound.ts";
import type { FarEndCall } from "../../../support/sip/far-end.ts";
import { HttpScene } from "./http-scene.ts";

const RATE = 8_000;
const MESSAGE_MS = 1_000;
const audio = {
  audioBase64: toneWav({ hz: 440, ms: MESSAGE_MS, sampleRate: RATE, amplitude: 8_000 }).toString("base64"),
};
const MESSAGE = { type: "FIXED_AUDIO", audio };
const TARGET = { phoneNumber: "+12025550100" };

/** Beginning of the message's tone, ms after the first received packet. */
function messageStartMs({ heard }: FarEndCall): number {
  const size = RATE / 50;
  for (let offset = 0; offset + size <= heard.length; offset += size) {
    const window = { samples: heard.subarray(offset, offset + size), sampleRate: RATE };
    if (window.samples.some((sample) => Math.abs(sample) > 1_000) && toneShare(window, 440) > 0.9) return offset / 8;
  }
  return NaN;
}

const messageMs = ({ heard }: FarEndCall): number => toneMs({ samples: heard, sampleRate: RATE }, 440);

describe.each(["thread", "worker"] as const)("over SIP, with the audio in a %s,", (media) => {
  test("a message that waits for the first word starts after it, and is heard in full", async () => {
    const word = concatPcm([new Int16Array(8 * 500), tone(300, 600, RATE, 200), new Int16Array(0)]);
    const hello = word.map((sample, i) => sample * (1 + 30 * Math.abs(Math.sin((Math.PI * i) / (8 * 130)))));
    const scene = await HttpScene.open({ says: concatPcm([hello, new Int16Array(8 * 8_000)]) }, { media });
    const { outcome } = await scene.endedCall({ ...MESSAGE, target: TARGET, startOn: "first_word" });
    expect(outcome).toMatchObject({ reason: "message_played", heard_ms: MESSAGE_MS, heard_ratio: 1 });
    const [call] = scene.farEnd.calls as [FarEndCall];
    expect(messageStartMs(call)).toBeGreaterThanOrEqual(1_100);
    expect(messageStartMs(call)).toBeLessThan(3_500);
    expect(messageMs(call)).toBeGreaterThanOrEqual(MESSAGE_MS - 40);
  });

  test.each([
    ["telephone-events", {}, false],
    ["INFO", { noEvents: true }, false],
    ["tones, if it accepts no other form", { noEvents: true, refusesInfo: true }, true],
  ] as const)("an extension is sent by %s, then the message", async (_, callee, isInBand) => {
    const scene = await HttpScene.open({ ...callee, says: "silence" }, { media });
    const createResponse = await scene.create({ ...MESSAGE, target: { ...TARGET, extension: ",12w#" } });
    expect(createResponse.status).toBe(201);
    const { id } = createResponse.body;
    await expect
      .poll(async () => (await scene.send("GET", `/v1/calls/${id}?expand=outcome`)).body.ended_at, { timeout: 15_000 })
      .not.toBeNull();
    const { outcome } = (await scene.send("GET", `/v1/calls/${id}?expand=outcome`)).body;
    expect(outcome).toMatchObject({ reason: "message_played", heard_ms: MESSAGE_MS, heard_ratio: 1 });
    const [call] = scene.farEnd.calls as [FarEndCall];
    let keys = call.keys;
    const keysAt: number[] = [];
    if (isInBand) {
      const detector = new DtmfDetector(RATE, (digit, atMs) => {
        keys += digit;
        keysAt.push(atMs);
      });
      detector.push(call.heard);
      expect(keysAt[0]).toBeGreaterThanOrEqual(1_000);
      expect(messageStartMs(call)).toBeGreaterThan(keysAt[2] ?? Infinity);
    }
    expect(keys).toBe("12#");
    expect(messageStartMs(call)).toBeGreaterThanOrEqual(1_500);
    expect(messageMs(call)).toBeGreaterThanOrEqual(MESSAGE_MS - 40);
    const { body: timeline } = await scene.send("GET", `/v1/calls/${id}/events`);
    const event = timeline.find(({ type }: { type: string }) => type === "extension_dialled");
    expect(event.data).toEqual({ extension: ",12w#", in_band: isInBand });
  });
});
