import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expected } from "../../support/server-client.ts";
import { loudness, loudPart, phaseJump, toneMs, toneShare } from "../../support/server-sound.ts";
import {
  attach,
  decodeHeard,
  expectClosedOnPurpose,
  indexOfSamples,
  NUMBERS,
  part,
  placeCall,
  TWILIO_SETTINGS,
  waitUntilClosed,
} from "../../support/twilio-calls.ts";

describe("a bot for Twilio Media Streams", () => {
  const server = useLocalServer(TWILIO_SETTINGS);

  test("the bot repeats the callee's audio exactly", async () => {
    const call = await placeCall(server, NUMBERS.greetsAndBeeps);
    const bot = await attach(server, call, { hangUpAt: "utterance 1" }, "&parameter.FirstName=Jane");
    await waitUntilClosed(bot);
    expectClosedOnPurpose(await call.client.waitForCall(call.callId));

    const [connected, start, ...laterMessages] = bot.messages;
    expect(connected).toEqual({ event: "connected", protocol: "Call", version: "1.0.0" });
    expect(start?.start).toEqual({
      accountSid: expect.stringMatching(/^usr_/),
      streamSid: start?.streamSid,
      callSid: call.callId,
      tracks: ["inbound"],
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
      customParameters: { FirstName: "Jane" },
    });
    expect(start?.streamSid).toMatch(/^MZ[0-9a-f]{32}$/);
    expect([start, ...laterMessages].map((message) => message?.sequenceNumber)).toEqual(
      bot.messages.slice(1).map((_, i) => `${i + 1}`),
    );
    expect(bot.messagesOf("media").map(({ media }) => [media?.track, media?.chunk, media?.timestamp])).toEqual(
      bot.messagesOf("media").map((_, i) => ["inbound", `${i + 1}`, `${20 * i}`]),
    );

    // A sentence and a beep of 1 kHz: the bot has heard both, and the callee hears both again.
    const utterance = decodeHeard(bot.utterances[0]!);
    const { to } = loudPart(utterance);
    expect(toneShare(part(utterance, to - 3_000, to - 80), 1_000)).toBeGreaterThan(0.95);
    const heardSound = await call.client.heard(call.callId);
    expect(heardSound.sampleRate).toBe(8_000);
    const offset = indexOfSamples(heardSound, utterance.samples);
    expect(offset, "the utterance in what was heard").toBeGreaterThanOrEqual(0);
    expect(loudness(part(heardSound, offset, offset + to))).toBeGreaterThan(500);
    const beep = part(heardSound, offset + to - 3_000, offset + to - 80);
    expect(toneShare(beep, 1_000)).toBeGreaterThan(0.95);
    expect(phaseJump(beep, 1_000)).toBeLessThan(0.5);
  });

  test("the bot receives stop at the hang-up", async () => {
    const call = await placeCall(server, NUMBERS.hangsUp);
    const bot = await attach(server, call);
    expect(await waitUntilClosed(bot)).toMatchObject({ code: 1000 });
    const { accountSid, callSid, streamSid } = bot.messagesOf("start")[0]?.start ?? {};
    expect(bot.messages.at(-1)).toEqual({
      event: "stop",
      sequenceNumber: String(bot.messages.length - 1),
      stop: { accountSid, callSid },
      streamSid,
    });
    expect((await call.client.waitForCall(call.callId)).outcome?.reason).toBe("callee_hung_up");
  });

  test("the bot receives no audio of an unanswered call", async () => {
    const call = await placeCall(server, NUMBERS.ringsOn);
    const bot = await attach(server, call);
    expected(204, await call.client.delete(`/v1/calls/${call.callId}`));
    expect(await waitUntilClosed(bot)).toMatchObject({ code: 4010 });
    expect(bot.messages).toEqual([]);
  });

  test("invalid messages are logged once, and the call continues", async () => {
    const call = await placeCall(server, NUMBERS.listens);
    const bot = await attach(server, call, { greeting: { hz: 500, ms: 600 }, hangUpAt: "greeting" });
    for (const invalidMessage of [
      "{",
      "[]",
      Buffer.from([1, 2, 3]),
      { event: "hangup" },
      { event: "clear", streamSid: "MZ0" },
    ])
      bot.send(invalidMessage);
    await waitUntilClosed(bot);
    expectClosedOnPurpose(await call.client.waitForCall(call.callId));
    const heardSound = await call.client.heard(call.callId);
    const { from, to } = loudPart(heardSound);
    expect(Math.abs(to - from - 4_800)).toBeLessThan(20);
    expect(toneShare(part(heardSound, from, to), 500)).toBeGreaterThan(0.99);
    const warnings = server.output.split("\n").filter((line) => line.includes(call.callId));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("a message is not a JSON object");
  });
});

describe("a bot for Twilio Media Streams, with a slow callee", () => {
  const server = useLocalServer({ ...TWILIO_SETTINGS, RINGPORT_SIMULATOR_TIME_SCALE: "3" });

  test("a key silences the bot; the mark of the dropped audio returns", async () => {
    const call = await placeCall(server, NUMBERS.pressesKeys);
    const bot = await attach(server, call, {
      greeting: { hz: 500, ms: 5_000 },
      goodbye: { hz: 700, ms: 300, after: "#" },
      hangUpAt: "goodbye",
    });
    await waitUntilClosed(bot);
    expectClosedOnPurpose(await call.client.waitForCall(call.callId));
    expect(bot.messagesOf("dtmf").map(({ dtmf }) => [dtmf?.track, dtmf?.digit])).toEqual(
      [..."1234#"].map((digit) => ["inbound_track", digit]),
    );
    const marks = bot.marks.filter((name) => !name.startsWith("utterance"));
    expect(marks).toEqual(["greeting", "goodbye"]);
    const eventTypes = bot.messages.map(({ event }) => event);
    expect(eventTypes.indexOf("mark")).toBeGreaterThan(eventTypes.indexOf("dtmf"));

    // Five seconds were sent, and the first key was pressed a second and a half after the answer.
    const heardSound = await call.client.heard(call.callId);
    expect(toneMs(heardSound, 500)).toBeGreaterThan(500);
    expect(toneMs(heardSound, 500)).toBeLessThan(3_500);
    expect(Math.abs(toneMs(heardSound, 700) - 300)).toBeLessThanOrEqual(40);
  });
});
