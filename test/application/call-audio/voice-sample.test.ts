import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { toneShare } from "../../../src/audio/tones/tone.ts";
import { decodeWav } from "../../../src/audio/wav/wav.ts";
import { SpeechFailed } from "../../../src/ports/speech.ts";
import { MS_PER_CHARACTER, World } from "../../support/application.ts";

let world: World;
beforeEach(async () => {
  world = await World.start();
});
afterEach(() => world.stop());

describe("a voice's sample", () => {
  test("is the voice's speech at 16 kHz, to its last sample", async () => {
    const { sampleRate, samples, truncated } = decodeWav(await world.app.queries.voiceSample("en-US-1"));
    const sentence = "Hello! This is how my voice sounds on the telephone.";
    expect({ sampleRate, truncated }).toEqual({ sampleRate: 16_000, truncated: false });
    expect(samples.length).toBe(sentence.length * MS_PER_CHARACTER * 16);
    expect(toneShare(samples, 440, 16_000)).toBeGreaterThan(0.99);
  });

  test("is refused for an unknown voice; the message names installed ones", async () => {
    await expect(world.app.queries.voiceSample("en-US-9")).rejects.toMatchObject({
      code: "voice_not_found",
      message: expect.stringContaining("en-US-1"),
    });
  });

  test("is refused when the engine fails, without quoting the engine", async () => {
    world.speech.fault = new SpeechFailed("connect ECONNREFUSED 10.0.0.7:8880");
    const refusal = world.app.queries.voiceSample("en-US-1");
    await expect(refusal).rejects.toMatchObject({ code: "speech_unavailable" });
    await expect(refusal).rejects.not.toThrow(/ECONNREFUSED|10\.0/);
    world.speech.fault = undefined;
    expect((await world.app.queries.voiceSample("en-US-1")).length).toBeGreaterThan(44);
  });

  test("is refused to a user with four in progress, but not to others", async () => {
    let speak = () => {};
    world.speech.gate = new Promise<void>((resolve) => {
      speak = resolve;
    });
    const sample = (userId: string) => world.app.queries.voiceSample("en-US-1", userId);
    const samples = Array.from({ length: 4 }, () => sample("usr_alice"));
    await expect(sample("usr_alice")).rejects.toMatchObject({ code: "server_busy" });
    samples.push(sample("usr_bob"));
    speak();
    for (const wav of await Promise.all(samples)) expect(wav.length).toBeGreaterThan(44);
    expect((await sample("usr_alice")).length).toBeGreaterThan(44);
  });

  test("is spoken in the requesting user's turns", async () => {
    const speak = vi.spyOn(world.context.speechScheduler.constructor.prototype, "speak");
    await world.app.queries.voiceSample("en-US-1", "usr_alice");
    expect(speak.mock.calls.map(([, , demand]) => demand)).toEqual([expect.objectContaining({ userId: "usr_alice" })]);
    speak.mockRestore();
  });

  test("is abandoned after 15 seconds of silence", async () => {
    world.speech.isSilent = true;
    const refusal = world.app.queries.voiceSample("en-US-1").catch((error: unknown) => error);
    let hasEnded = false;
    void refusal.then(() => {
      hasEnded = true;
    });
    await world.system.advance(14_999);
    expect(hasEnded).toBe(false);
    await world.system.advance(1);
    expect(await refusal).toMatchObject({ code: "speech_unavailable" });
  });
});
