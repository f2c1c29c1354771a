import { readFile } from "node:fs/promises";
import type { ScriptedLeg } from "ringport/testing";
import { describe, expect, test } from "vitest";
import { encodeMulaw } from "../../src/audio/samples/g711-companding.ts";
import { tone, toneShare } from "../../src/audio/tones/tone.ts";
import { encodeBase64 } from "../../src/base/base64.ts";
import { openStream, type StreamClient } from "../support/stream-client.ts";
import { RATE, streamScene, waitUntil } from "./support/stream-scene.ts";

const scene = streamScene();
const HZ = 700;
/** Maximum delay before a message affects the callee, samples: 200 ms. */
const MAX_DELAY = RATE / 5;
/** These tests compare with the phone's clock, so they are retried on a stalled machine. */
const REAL_TIME = { retry: 2 };
/** Length of one PCM message, ms. */
const PIECE_MS = 500;

const open = (id: string, query: Record<string, string | number> = {}): Promise<StreamClient> =>
  openStream(scene.url, id, { token: scene.token, query });

/** Sends `ms` of a tone at once. */
function writeAhead(stream: StreamClient, ms: number): void {
  const piece = tone(HZ, PIECE_MS, RATE, 8_000);
  for (let sentMs = 0; sentMs < ms; sentMs += PIECE_MS) void stream.write(piece).catch(() => {});
}

const waitForTone = (leg: ScriptedLeg): Promise<void> =>
  waitUntil(() => leg.heard.length > RATE / 2 && leg.heard.at(-10) !== 0, "no tone was heard");

/** Samples from this position to the next 25 ms of silence. */
const silenceAfter = (leg: ScriptedLeg, from: number): number => {
  const remainingSamples = leg.heard.subarray(from);
  return remainingSamples.findIndex((_, i) =>
    remainingSamples.subarray(i, i + RATE / 40).every((sample) => sample === 0),
  );
};

/** Samples of sound after this position. */
const soundAfter = (leg: ScriptedLeg, from: number): number =>
  leg.heard.subarray(from).findLastIndex((sample) => sample !== 0) + 1;

describe("clear takes effect within 200 ms", REAL_TIME, () => {
  test.each([35, 58, 240])("with %i s of PCM sent ahead", async (seconds) => {
    const { id, leg } = await scene.answeredCall();
    const stream = await open(id);
    writeAhead(stream, seconds * 1_000);
    await waitForTone(leg);
    const clearedAt = leg.heard.length;
    stream.sendMessage({ type: "mark", name: "never" });
    stream.sendMessage({ type: "clear" });
    stream.sendMessage({ type: "mark", name: "at once" });
    await stream.write(tone(1_800, 400, RATE, 8_000));
    stream.sendMessage({ type: "mark", name: "after" });
    await stream.event("cleared");
    await stream.message(({ name }) => name === "after", "the last mark");
    const marks = stream.events.filter(({ event }) => event === "mark");
    expect(marks.map(({ name }) => name)).toEqual(["at once", "after"]);
    const second = leg.heard.subarray(clearedAt + MAX_DELAY, clearedAt + MAX_DELAY + RATE / 5);
    expect(toneShare(second, 1_800, RATE)).toBeGreaterThan(0.98);
    const heardSamples = soundAfter(leg, clearedAt);
    expect(heardSamples).toBeLessThan(MAX_DELAY + (RATE * 2) / 5);
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
  });

  test("with minutes of MP3 sent ahead", async () => {
    const [first, second] = await Promise.all([
      readFile(new URL("../fixtures/tone-44k-stereo-id3.mp3", import.meta.url)),
      readFile(new URL("../fixtures/mp3/tone-44100.mp3", import.meta.url)), // 700 Hz for 0.4 s
    ]);
    const { id, leg } = await scene.answeredCall();
    const stream = await open(id, { encoding: "mp3" });
    for (let i = 0; i < 60; i++) void stream.write(first).catch(() => {});
    await waitForTone(leg);
    const clearedAt = leg.heard.length;
    stream.sendMessage({ type: "clear" });
    await stream.event("cleared");
    void stream.write(second);
    stream.sendMessage({ type: "mark", name: "after" });
    await stream.message(({ name }) => name === "after", "the last mark");
    const heardSamples = soundAfter(leg, clearedAt);
    expect(heardSamples).toBeLessThan(MAX_DELAY + (RATE * 45) / 100);
    // The second file is heard in full.
    const end = clearedAt + heardSamples;
    expect(toneShare(leg.heard.subarray(end - (RATE * 38) / 100, end), 700, RATE)).toBeGreaterThan(0.98);
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
  });

  test("with minutes sent ahead in Twilio's messages", async () => {
    const { id, leg } = await scene.answeredCall();
    const bot = await open(id, { protocol: "twilio" });
    const { streamSid } = await bot.event("start");
    const media = (samples: Int16Array): void =>
      bot.sendMessage({ event: "media", streamSid, media: { payload: encodeBase64(encodeMulaw(samples)) } });
    const mark = (name: string): void => bot.sendMessage({ event: "mark", streamSid, mark: { name } });
    for (let i = 0; i < 200; i++) media(tone(HZ, PIECE_MS, 8_000, 8_000));
    mark("never");
    await waitForTone(leg);
    const clearedAt = leg.heard.length;
    bot.sendMessage({ event: "clear", streamSid });
    await bot.event("mark");
    const position = leg.heard.length;
    await waitUntil(() => leg.heard.length > position + RATE / 10, "no silence was heard");
    media(tone(1_800, 400, 8_000, 8_000));
    mark("after");
    await bot.message((message) => JSON.stringify(message.mark) === '{"name":"after"}', "the last mark");
    const silenceAt = clearedAt + silenceAfter(leg, clearedAt);
    expect(silenceAt - clearedAt).toBeLessThan(MAX_DELAY);
    const afterSilence = leg.heard.subarray(silenceAt);
    const second = afterSilence.subarray(afterSilence.findIndex((sample) => sample !== 0));
    expect(toneShare(second.subarray(0, (RATE * 3) / 10), 1_800, RATE)).toBeGreaterThan(0.95);
    await bot.close(1000);
  });

  test("with a minute written to the client library", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client().stream(id);
    const piece = tone(HZ, PIECE_MS, RATE, 8_000);
    for (let i = 0; i < 120; i++) void stream.write(piece);
    const clearedMark = stream.mark("never");
    await waitForTone(leg);
    const clearedAt = leg.heard.length;
    const heardMs = await stream.clear();
    expect(await clearedMark).toBe("cleared");
    expect(soundAfter(leg, clearedAt)).toBeLessThan(MAX_DELAY);
    expect(Math.abs((heardMs / 1_000) * RATE - clearedAt)).toBeLessThan(MAX_DELAY + RATE);
    await stream.write(tone(1_800, 400, RATE, 8_000));
    expect(await stream.mark("after")).toBe("reached");
    await stream.hangUp();
  });
});

describe("the end of a call", REAL_TIME, () => {
  test("follows clear and hangup within 200 ms, even with audio sent ahead", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await open(id);
    writeAhead(stream, 100_000);
    await waitForTone(leg);
    const clearedAt = leg.heard.length;
    stream.sendMessage({ type: "clear" });
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
    expect(leg.heard.length - clearedAt).toBeLessThan(MAX_DELAY);
    expect((await scene.client().waitForCall(id)).outcome).toMatchObject({ reason: "stream_closed" });
  });
});
