import { describe, expect, test } from "vitest";
import { concatPcm } from "../../../../src/audio/samples/pcm.ts";
import { dtmfTones } from "../../../../src/audio/tones/dtmf.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";
import type { ScriptedLeg } from "../../../../src/testing/scripted-telephony.ts";
import { ALICE, World } from "../../../support/application.ts";
import { answeredStream, attach, RecordingClient, streamCall } from "../../../support/recording-client.ts";

const start = (options = {}) => World.start({ streamPreview: true, ...options });

/** A leg that accepts keys, and records them. */
function acceptKeys(world: World): string[] {
  const sentKeys: string[] = [];
  world.network.onDial = (leg: ScriptedLeg) => {
    Object.assign(leg, { sendDtmf: async (digits: string) => void sentKeys.push(digits) });
  };
  return sentKeys;
}

describe("a client that attaches later", () => {
  test("gets past events at once, with times", async () => {
    const world = await start();
    const first = new RecordingClient();
    const { call, leg, attachment } = await answeredStream(world, first);
    attachment.write(tone(440, 100, 8_000, 9_000), 8_000);
    attachment.mark("hello");
    await world.system.advance(500);
    leg.press("7");
    await world.system.settle();
    attachment.clear();
    attachment.detach(false);
    const second = new RecordingClient();
    await attach(world, call, second);
    expect(second.events).toEqual(first.events);
    expect(second.eventNames).toEqual([
      "ringing",
      "answered",
      "transcripts_unavailable",
      "mark",
      "answered_by",
      "dtmf",
      "cleared",
    ]);
    expect(second.latestEvent("mark")?.data).toEqual({ name: "hello" });
    expect(second.latestEvent("dtmf")?.data).toEqual({ digit: "7" });
    expect(second.latestEvent("cleared")?.data).toEqual({ heard_ms: 100 });
    await world.stop();
  });

  test("still gets the answer after a thousand marks", async () => {
    const world = await start();
    const { call, attachment } = await answeredStream(world);
    for (let i = 0; i < 1_500; i++) attachment.mark(`mark ${i}`);
    await world.system.advance(100);
    attachment.detach(false);
    const second = new RecordingClient();
    await attach(world, call, second);
    expect(second.eventNames.slice(0, 2)).toEqual(["ringing", "answered"]);
    expect(second.events.length).toBe(1_000);
    expect(second.events.at(-1)?.data).toEqual({ name: "mark 1499" });
    await world.stop();
  });

  test("gets the outcome of an ended call", async () => {
    const world = await start();
    const call = await streamCall(world, await world.activeInstance());
    const reservation = await world.app.calls.stream(ALICE, call.id);
    world.leg(call).placed();
    world.leg(call).end("busy", "486");
    await world.system.settle();
    const client = new RecordingClient();
    reservation.attach(client).write(new Int16Array(160), 8_000);
    expect([client.eventNames, client.ends]).toEqual([["ringing", "failed"], ["failed"]]);
    expect(client.latestEvent("failed")?.data).toEqual({ reason: "busy" });
    await world.stop();
  });
});

describe("queued audio", () => {
  test("is reported once above thirty seconds, and once below fifteen", async () => {
    const world = await start();
    const client = new RecordingClient();
    const { call, attachment } = await answeredStream(world, client);
    const second = tone(440, 1_000, 8_000, 9_000);
    for (let i = 0; i < 40; i++) attachment.write(second, 8_000);
    expect(client.eventNames.filter((event) => event === "buffer_high")).toEqual(["buffer_high"]);
    expect(client.latestEvent("buffer_high")?.data).toEqual({ queued_ms: 31_000 });
    attachment.detach(false);
    const next = new RecordingClient();
    await attach(world, call, next);
    expect(next.eventNames.at(-1), "also sent to a later client").toBe("buffer_high");
    await world.system.advance(24_000);
    expect(next.eventNames).not.toContain("buffer_low");
    await world.system.advance(2_000);
    expect(next.eventNames.at(-1)).toBe("buffer_low");
    expect(next.latestEvent("buffer_low")?.data.queued_ms).toBe(14_980);
    await world.stop();
  });

  test("disconnects only the client if it exceeds a minute", async () => {
    const world = await start();
    const client = new RecordingClient();
    const { call, attachment } = await answeredStream(world, client);
    attachment.write(tone(440, 59_000, 8_000, 9_000), 8_000);
    attachment.write(tone(440, 2_000, 8_000, 9_000), 8_000);
    expect(client.ends).toEqual(["overflow"]);
    expect(attachment.queuedMs).toBe(0);
    const next = await attach(world, call);
    expect(next.queuedMs).toBeCloseTo(59_000, 3);
    next.clear();
    expect(next.queuedMs).toBe(0);
    await world.system.advance(20_000);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    await world.stop();
  });

  test("throws a RangeError if its rate is unsupported", async () => {
    const world = await start();
    const { call, attachment } = await answeredStream(world);
    for (const rate of [0, 3_999, 8_000.5, 192_001, Number.NaN])
      expect(() => attachment.write(new Int16Array(10), rate)).toThrow(RangeError);
    await world.system.advance(100);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    await world.stop();
  });
});

describe("keys that the client presses", () => {
  test("are sent before the waiting audio", async () => {
    const world = await start();
    const sentKeys = acceptKeys(world);
    const { leg, attachment } = await answeredStream(world);
    attachment.write(tone(440, 5_000, 8_000, 9_000), 8_000);
    attachment.dtmf("12#");
    await world.system.advance(100);
    expect(sentKeys).toEqual(["12#"]);
    expect(leg.heard.some((sample) => sample !== 0)).toBe(true);
    await world.stop();
  });

  test("are sent at the answer if they are pressed before it", async () => {
    const world = await start();
    const sentKeys = acceptKeys(world);
    const call = await streamCall(world, await world.activeInstance());
    const attachment = await attach(world, call);
    attachment.dtmf("1");
    attachment.dtmf("2");
    world.leg(call).placed();
    await world.system.advance(1_000);
    expect(sentKeys).toEqual([]);
    world.leg(call).answer();
    await world.system.advance(100);
    expect(sentKeys).toEqual(["12"]);
    await world.stop();
  });

  test("are sent as tones after the queued audio if the network accepts no keys", async () => {
    const world = await start();
    const { leg, attachment } = await answeredStream(world);
    const words = tone(440, 200, 8_000, 9_000);
    attachment.write(words, 8_000);
    attachment.dtmf("5A");
    await world.system.advance(1_000);
    const expected = concatPcm([words, dtmfTones("5A", { sampleRate: 8_000 })]);
    const startIndex = leg.heard.findIndex((sample) => sample !== 0) - 1;
    expect(leg.heard.subarray(startIndex, startIndex + expected.length)).toEqual(expected);
    await world.stop();
  });

  test("throw a RangeError if they are invalid or too many", async () => {
    const world = await start();
    acceptKeys(world);
    const { attachment } = await answeredStream(world);
    for (const digits of ["x", "1 2", "a", "+49", "1".repeat(65)])
      expect(() => attachment.dtmf(digits), digits).toThrow(RangeError);
    for (let i = 0; i < 64; i++) attachment.dtmf("1");
    expect(() => attachment.dtmf("1")).toThrow(RangeError);
    await world.system.settle();
    attachment.dtmf("1");
    await world.stop();
  });
});

describe("the callee's audio", () => {
  test("starts after the answered event, with a frame every 20 ms", async () => {
    const world = await start();
    const client = new RecordingClient(8_000);
    const { leg, attachment } = await answeredStream(world, client);
    const words = tone(600, 1_000, 8_000, 9_000);
    leg.say(words);
    await world.system.advance(2_000);
    const answeredIndex = client.eventNames.indexOf("answered");
    expect(client.framesAt[answeredIndex]).toBe(0);
    expect(client.frames.length).toBeGreaterThanOrEqual(100);
    expect(client.frames.length).toBeLessThanOrEqual(101);
    const startIndex = client.heard.findIndex((sample) => sample !== 0) - 1;
    expect(client.heard.subarray(startIndex, startIndex + words.length)).toEqual(words);
    attachment.detach(false);
    await world.system.advance(1_000);
    expect(client.frames.length).toBeLessThanOrEqual(101);
    await world.stop();
  });

  test("is silence if none arrives, and a voicemail beep is reported", async () => {
    const world = await start();
    const client = new RecordingClient(16_000);
    const call = await streamCall(world, await world.activeInstance());
    await attach(world, call, client);
    const leg = world.leg(call);
    leg.talkative = false;
    leg.placed();
    leg.answer();
    await world.system.advance(2_000);
    expect(client.frames.length).toBeGreaterThanOrEqual(98);
    expect(client.heard.every((sample) => sample === 0)).toBe(true);
    leg.say(concatPcm([tone(1_000, 400, 8_000, 9_000), new Int16Array(8_000)]));
    await world.system.advance(2_000);
    expect(client.latestEvent("beep")?.data).toMatchObject({ hz: expect.closeTo(1_000, -1) });
    expect(await world.eventTypes(call)).toContain("beep");
    expect(await world.eventTypes(call)).not.toContain("callee_speech");
    await world.stop();
  });
});

describe("a server that stops", () => {
  test("disconnects clients of waiting calls, and of calls that it ends", async () => {
    const world = await start();
    const waitingClient = new RecordingClient();
    const waitingCall = await streamCall(world, await world.newInstance());
    await attach(world, waitingCall, waitingClient);
    const liveClient = new RecordingClient();
    await answeredStream(world, liveClient);
    const reservation = await world.app.calls.stream(ALICE, (await streamCall(world, await world.newInstance())).id);
    const lateClient = new RecordingClient();
    await world.stop();
    expect([waitingClient.eventNames, waitingClient.ends]).toEqual([[], ["stopping"]]);
    expect(liveClient.ends).toEqual(["failed"]);
    expect(liveClient.latestEvent("failed")?.data).toEqual({ reason: "interrupted" });
    reservation.attach(lateClient);
    expect(lateClient.ends).toEqual(["stopping"]);
    await expect(world.app.calls.stream(ALICE, waitingCall.id)).rejects.toThrow();
    expect(world.system.waiting).toBe(0);
  });
});
