import { expect, test } from "vitest";
import { DtmfDetector } from "../../src/audio/tones/dtmf.ts";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import { toneMs, toneWav } from "../support/server-sound.ts";

const MESSAGE_MS = 1_500;
const AUDIO = { audioBase64: toneWav({ ms: MESSAGE_MS }).toString("base64") };

// The same code runs on every runtime; test/server/calls.test.ts plays audio on all of them.
describeEach([ON_NODE], (target) => {
  const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" } });

  test.concurrent("a message starts after the callee's sentence, and is heard in full", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, {
      type: "FIXED_AUDIO",
      target: { phoneNumber: "+12025550106" },
      audio: AUDIO,
      startOn: "first_word",
    });
    const { outcome } = await client.waitForCall(id);
    expect(outcome).toMatchObject({ reason: "message_played", heard_ms: MESSAGE_MS, heard_ratio: 1 });
    const heardSound = await client.heard(id);
    expect(toneMs(heardSound, 1_000)).toBeGreaterThanOrEqual(MESSAGE_MS - 40);
    const speech = (await client.timeline(id)).find(({ type }) => type === "callee_speech");
    const firstSound =
      (heardSound.samples.findIndex((sample) => Math.abs(sample) > 200) * 1_000) / heardSound.sampleRate;
    expect(firstSound).toBeGreaterThan(Number(speech?.data.end_ms));
  });

  test.concurrent("a callee hears the keys of an extension in order, and then the message", async () => {
    const client = await server.as("grace");
    const { id } = await client.call((await client.activeInstance()).id, {
      type: "FIXED_AUDIO",
      target: { phoneNumber: "+12025550100", extension: "w12,*3" },
      audio: AUDIO,
    });
    const { outcome } = await client.waitForCall(id);
    expect(outcome).toMatchObject({ reason: "message_played", heard_ms: MESSAGE_MS, heard_ratio: 1 });
    const { samples, sampleRate } = await client.heard(id);
    let keys = "";
    let lastKeyMs = 0;
    const detector = new DtmfDetector(sampleRate, (digit, atMs) => {
      keys += digit;
      lastKeyMs = atMs;
    });
    detector.push(samples);
    expect(keys).toBe("12*3");
    const partAfterKeys = { samples: samples.subarray(((lastKeyMs + 100) * sampleRate) / 1_000), sampleRate };
    expect(toneMs(partAfterKeys, 1_000)).toBeGreaterThanOrEqual(MESSAGE_MS - 40);
    expect((await client.timeline(id)).map(({ type }) => type)).toContain("extension_dialled");
  });
});
