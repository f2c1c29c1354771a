import { describe, expect, test } from "vitest";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import type { MediaStatistics } from "../../../src/domain/calls/media-statistics.ts";
import { DialError } from "../../../src/ports/telephony.ts";
import { ALICE, audioFile, NUMBER, World } from "../../support/application.ts";
import { fileFaults } from "../../support/call-events.ts";

const ONE_SECOND_TEXT = "twenty characters!!!"; // one second of speech

const STATISTICS: MediaStatistics = {
  codec: "opus",
  packetsSent: 50,
  packetsReceived: 48,
  packetsLost: 2,
  packetsReordered: 0,
  packetsDuplicated: 0,
  packetsInvalid: 0,
  jitterMs: 1.5,
  roundTripMs: 31,
  remoteLoss: 0,
  mos: 4.1,
  heldMs: 0,
};

describe("a call that is answered", () => {
  test("is heard to the last sample of its message, then completed", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const newCall = await world.call(instance, ONE_SECOND_TEXT);
    expect(newCall).toMatchObject({ status: "QUEUED", created: true, startedAt: null, endedAt: null, outcome: null });

    const leg = world.leg(newCall);
    leg.placed();
    await world.system.settle();
    expect(await world.storedCall(newCall)).toMatchObject({ status: "RINGING", startedAt: null });

    await world.system.advance(3_000);
    const answeredAt = world.system.now();
    leg.answer();
    await world.system.settle();
    expect(await world.storedCall(newCall)).toMatchObject({ status: "IN_PROGRESS", startedAt: answeredAt });

    await world.system.advance(1_400);
    const endedCall = await world.storedCall(newCall);
    expect(endedCall).toMatchObject({
      status: "COMPLETED",
      startedAt: answeredAt,
      outcome: { reason: "message_played", detail: null, heardMs: 1_000, heardRatio: 1, answeredBy: "unknown" },
    });
    expect(endedCall.endedAt).toBe(answeredAt + (endedCall.outcome?.durationMs ?? 0));
    expect(leg.hangUps).toBeGreaterThan(0);
    expect(world.errors).toEqual([]);
    await world.stop();
  });

  test("plays the message sample by sample, then the tail", async () => {
    const world = await World.start();
    const { leg } = await world.answeredCall(await world.activeInstance(), ONE_SECOND_TEXT);
    await world.system.advance(1_400);
    const expected = tone(440, 1_000, 8_000, 8_000);
    expect(leg.heard.subarray(0, 8_000)).toEqual(expected);
    expect(leg.heard.length).toBeGreaterThanOrEqual(8_000 + 2_400);
    expect(leg.heard.subarray(8_000).every((sample) => sample === 0)).toBe(true);
    await world.stop();
  });

  test("has a timeline in order that ends with one final event", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const call = await world.call(instance);
    const leg = world.leg(call);
    for (const step of ["placed", "alert", "answer"] as const) {
      leg[step]();
      await world.system.advance(500);
    }
    leg.press("5");
    await world.system.advance(5_000);
    expect(await world.eventTypes(call)).toEqual([
      "queued",
      "message_ready",
      "ringing",
      "alerting",
      "answered",
      "answered_by",
      "dtmf",
      "completed",
    ]);
    const timeline = await world.timeline(call);
    const times = timeline.map((event) => event.timestamp);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(timeline.at(-1)?.data).toMatchObject({ reason: "message_played", heard_ms: 950, heard_ratio: 1 });
    await world.stop();
  });

  test("rings once, even with audio before the answer", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    const leg = world.leg(call);
    leg.placed();
    leg.alert();
    leg.earlyMedia();
    leg.answer();
    await world.system.advance(5_000);
    const eventTypes = await world.eventTypes(call);
    expect(eventTypes).toEqual([
      "queued",
      "message_ready",
      "ringing",
      "alerting",
      "early_media",
      "answered",
      "completed",
    ]);
    await world.stop();
  });

  test("counts the audio heard when the callee hangs up in the middle", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), ONE_SECOND_TEXT);
    await world.system.advance(490);
    leg.end("callee_hung_up", "BYE");
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "callee_hung_up", detail: "BYE", heardMs: 490, heardRatio: 0.49 },
    });
    await world.stop();
  });

  test("plays an uploaded file, and forgets it when the call has ended", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const call = await world.app.calls.create(ALICE, {
      instanceId: instance.id,
      type: "FIXED_AUDIO",
      target: { phoneNumber: NUMBER },
      audio: { audioBase64: audioFile(2, { truncated: true }) },
    });
    await world.system.settle();
    const leg = world.leg(call);
    leg.placed();
    leg.answer();
    await world.system.advance(3_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardMs: 2_000 });
    expect(toneShare(leg.heard.subarray(0, 16_000), 880, 8_000)).toBeGreaterThan(0.99);
    expect(await world.storage.calls.audio(call.id)).toBeUndefined();
    expect(await world.eventTypes(call)).toContain("audio_truncated");
    await world.stop();
  });

  test("reports the unheard bytes of a file, and counts them in heard_ratio", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const file = audioFile(2, { truncated: true, unknownBytes: 3 });
    const call = await world.app.calls.create(ALICE, {
      instanceId: instance.id,
      type: "FIXED_AUDIO",
      target: { phoneNumber: NUMBER },
      audio: { audioBase64: file },
    });
    await world.system.settle();
    const leg = world.leg(call);
    leg.placed();
    leg.answer();
    await world.system.advance(3_000);
    const storedCall = await world.storedCall(call);
    expect(storedCall.outcome).toMatchObject({ reason: "message_played", heardMs: 2_000, heardRatio: 0.4 });
    const events = await world.storage.events.ofCall(call.id, {});
    expect(events.find(({ type }) => type === "audio_ignored")?.data).toEqual({ bytes: 3, reason: "unknown_bytes" });
    expect(fileFaults(storedCall, events, atob(file).length)).toEqual([]);
    expect(fileFaults(storedCall, [], atob(file).length)).toHaveLength(2);
    await world.stop();
  });

  test("plays the beginning of a message while its end is still being spoken", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    let resume = () => {};
    world.speech.pause = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const { call, leg } = await world.answeredCall(instance, "a".repeat(40));
    await world.system.advance(3_000);
    const samplesMs = (ms: number) => ms * 8;
    expect(toneShare(leg.heard.subarray(0, samplesMs(1_000)), 440, 8_000)).toBeGreaterThan(0.99);
    expect(leg.heard.subarray(samplesMs(1_000)).every((sample) => sample === 0)).toBe(true);
    expect(await world.eventTypes(call)).toEqual(["queued", "ringing", "answered"]);

    resume();
    await world.system.settle();
    const silenceStart = leg.heard.length - samplesMs(1_000);
    await world.system.advance(1_500);
    const remainder = leg.heard.subarray(samplesMs(1_000) + silenceStart, samplesMs(2_000) + silenceStart);
    expect(toneShare(remainder, 440, 8_000)).toBeGreaterThan(0.99);
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "message_played", heardMs: 2_000, heardRatio: 1 },
    });
    const delays = (await world.timeline(call)).filter(({ type }) => type === "message_delayed");
    expect(delays.map(({ data }) => data)).toEqual([{ at_ms: 1_000, silence_ms: silenceStart / 8 }]);
    await world.stop();
  });

  test("reports the callee's words, even if they are still speaking at the end", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), ONE_SECOND_TEXT.repeat(3));
    const speech = new Int16Array(8_000 * 5);
    for (let i = 0; i < speech.length; i++) speech[i] = 9_000 * Math.sin(i / 5) * Math.sin(i / 97);
    leg.say(speech);
    await world.system.advance(5_000);
    const eventTypes = await world.eventTypes(call);
    expect(eventTypes).toContain("callee_speech");
    expect(eventTypes.at(-1)).toBe("completed");
    await world.stop();
  });

  test("waits while the callee holds it, and continues at the same place", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), ONE_SECOND_TEXT); // 1 s
    await world.system.advance(400);
    leg.hold();
    await world.system.advance(3_000);
    leg.resume();
    await world.system.advance(2_000);
    expect(await world.storedCall(call)).toMatchObject({
      outcome: { reason: "message_played", heardMs: 1_000, heardRatio: 1 },
    });
    const eventTypes = await world.eventTypes(call);
    expect(eventTypes.slice(eventTypes.indexOf("held"))).toEqual(["held", "resumed", "completed"]);
    await world.stop();
  });

  test("keeps the network's reports in its timeline", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    const leg = world.leg(call);
    leg.trace({ direction: "sent", message: "INVITE sip:+12025550100@example.com SIP/2.0" });
    leg.placed();
    leg.trace({ direction: "received", message: "SIP/2.0 486 Busy Here" });
    leg.end("busy");
    await world.system.settle();
    const timeline = await world.timeline(call);
    const events = timeline.filter(({ type }) => type !== "message_ready");
    expect(events.map(({ type }) => type)).toEqual(["queued", "signalling", "ringing", "signalling", "failed"]);
    expect(events[3]?.data).toEqual({ direction: "received", message: "SIP/2.0 486 Busy Here" });
    await world.stop();
  });

  test.each(["played to its end", "ended by the callee", "lost"])(
    "keeps the statistics of its audio if it is %s",
    async (end) => {
      const world = await World.start();
      const { call, leg } = await world.answeredCall(await world.activeInstance(), ONE_SECOND_TEXT);
      await world.system.advance(500);
      leg.counted = STATISTICS;
      expect((await world.storedCall(call)).mediaStatistics).toBeNull();
      if (end === "ended by the callee") leg.end("callee_hung_up");
      if (end === "lost") leg.loseMedia();
      await world.system.advance(2_000);
      expect((await world.storedCall(call)).mediaStatistics).toEqual(STATISTICS);
      await world.stop();
    },
  );

  test("still ends if the network cannot report its audio quality", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), ONE_SECOND_TEXT);
    leg.statistics = () => {
      throw new Error("the worker is gone");
    };
    await world.system.advance(2_000);
    expect(await world.storedCall(call)).toMatchObject({
      outcome: { reason: "message_played" },
      mediaStatistics: null,
    });
    await world.stop();
  });

  test("may last as long as its message and the maximum duration together", async () => {
    const world = await World.start({ timings: { maxDurationMs: 5_000 } });
    const { call } = await world.answeredCall(await world.activeInstance(), "x".repeat(200)); // 10 s
    await world.system.advance(11_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardMs: 10_000 });
    await world.stop();
  });
});

describe("a call that is not answered", () => {
  test.each([
    ["busy", "busy"],
    ["declined", "declined"],
    ["no_answer", "no_answer"],
    ["unreachable", "unreachable"],
    ["number_invalid", "number_invalid"],
    ["rejected_by_network", "rejected_by_network"],
    ["callee_hung_up", "declined"],
    ["media_failed", "media_failed"],
    ["line_lost", "instance_lost"],
  ] as const)("ends with the network's reason: %s becomes %s", async (cause, reason) => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    const leg = world.leg(call);
    leg.placed();
    leg.end(cause, "486");
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      startedAt: null,
      outcome: { reason, detail: "486", heardMs: 0, heardRatio: 0, durationMs: 0, answeredBy: null },
    });
    expect(world.errors).toEqual([]);
    await world.stop();
  });

  test.each([
    ["no_answer", true, null],
    ["unreachable", false, "the network took the call, but reported no ringing within 20 s"],
  ])("ends as %s after the ring timeout if the network reports ringing: %j", async (reason, rings, detail) => {
    const world = await World.start({ timings: { ringTimeoutMs: 20_000 } });
    const call = await world.call(await world.activeInstance());
    const leg = world.leg(call);
    leg.placed();
    if (rings) leg.alert();
    await world.system.advance(19_999);
    expect((await world.storedCall(call)).status).toBe("RINGING");
    await world.system.advance(1);
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason, detail } });
    expect(leg.live).toBe(false);
    expect(leg.ringTimeoutMs).toBe(20_000);
    await world.stop();
  });

  test("fails when the network never accepts it", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    await world.system.advance(60_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "unreachable" } });
    await world.stop();
  });

  test("fails with the network's reason if it is refused", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.network.onDial = () => {
      throw new DialError("number_invalid", "404 Not Found");
    };
    const call = await world.call(instance);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "number_invalid", detail: "404 Not Found" },
    });
    expect(world.errors).toEqual([]);
    await world.stop();
  });

  test("fails as an internal error, and is logged, when an adapter misbehaves", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.network.onDial = () => {
      throw new TypeError("x is not a function");
    };
    const call = await world.call(instance);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "internal_error" });
    expect(world.errors).toHaveLength(1);
    await world.stop();
  });

  test("fails when a leg falls silent permanently without reporting its end", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance());
    leg.events.close();
    await world.system.settle();
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "internal_error" });
    await world.stop();
  });
});

describe("a call whose media fails", () => {
  test("ends if the audio path is not established after the answer", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    const leg = world.leg(call);
    leg.placed();
    leg.answer({ media: false });
    await world.system.advance(10_000);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      startedAt: null,
      outcome: { reason: "media_failed" },
    });
    await world.stop();
  });

  test("ends if no inbound audio arrives on a network that guarantees it", async () => {
    const world = await World.start({ capabilities: { inboundAudioCertain: true } });
    const instance = await world.activeInstance();
    world.network.onDial = (leg) => {
      leg.talkative = false;
    };
    const { call } = await world.answeredCall(instance, ONE_SECOND_TEXT);
    await world.system.advance(9_999);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS"); // the message has ended long ago
    await world.system.advance(1);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "media_failed", heardMs: 1_000 });
    expect(await world.eventTypes(call)).toContain("media.inbound_silent");
    await world.stop();
  });

  test("continues without inbound audio if its absence proves nothing", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.network.onDial = (leg) => {
      leg.talkative = false;
    };
    const { call } = await world.answeredCall(instance, "x".repeat(300)); // 15 s
    await world.system.advance(10_000);
    expect(await world.eventTypes(call)).toContain("media.inbound_silent");
    await world.system.advance(6_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", outcome: { heardMs: 15_000 } });
    await world.stop();
  });

  test("fails without inbound audio if an option requires it", async () => {
    const world = await World.start({ requireInboundAudio: true });
    const instance = await world.activeInstance();
    world.network.onDial = (leg) => {
      leg.talkative = false;
    };
    const { call } = await world.answeredCall(instance);
    await world.system.advance(10_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "media_failed" });
    await world.stop();
  });

  test.each([
    ["none", true, { reason: "media_failed", heardMs: 1_000, heardRatio: null }],
    ["none", false, { reason: "message_played", heardMs: 1_000, heardRatio: null }],
    ["rtcp", true, { reason: "message_played", heardMs: 1_000, heardRatio: 1 }],
  ] as const)("has an outcome according to its evidence: %s, required %s", async (kind, isRequired, outcome) => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.network.onDial = (leg) => {
      leg.talkative = false;
      leg.evidence = () => ({ kind, required: isRequired });
    };
    const { call } = await world.answeredCall(instance, ONE_SECOND_TEXT);
    await world.system.advance(10_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ ...outcome, heardEvidence: kind });
    expect((await world.timeline(call)).at(-1)?.data).toMatchObject({ heard_evidence: kind });
    await world.stop();
  });

  test("has no ratio without evidence, even if no audio was played", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.network.onDial = (leg) => {
      leg.talkative = false;
    };
    const { call, leg } = await world.answeredCall(instance, ONE_SECOND_TEXT);
    leg.end("callee_hung_up", "BYE");
    await world.system.settle();
    const outcome = { reason: "callee_hung_up", heardMs: 0, heardRatio: null, heardEvidence: "none" };
    expect((await world.storedCall(call)).outcome).toMatchObject(outcome);
    await world.stop();
  });

  test("counts received audio as evidence before the network reports it", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.network.onDial = (leg) => {
      leg.evidence = () => ({ kind: "none", required: true });
    };
    const { call } = await world.answeredCall(instance, ONE_SECOND_TEXT);
    await world.system.advance(10_000);
    const outcome = { reason: "message_played", heardRatio: 1, heardEvidence: "inbound" };
    expect((await world.storedCall(call)).outcome).toMatchObject(outcome);
    await world.stop();
  });

  test("fails when the text cannot be spoken, and no callee is dialled", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.speech.fault = new Error("the engine crashed");
    const call = await world.call(instance);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "speech_failed", detail: "the engine crashed" },
    });
    expect(world.network.legs).toHaveLength(0);
    expect(await world.eventTypes(call)).toEqual(["queued", "failed"]);
    await world.stop();
  });
});

describe("call types that the server cannot carry", () => {
  test.each([
    ["DYNAMIC_STREAM", "stream_unavailable"],
    ["DYNAMIC_AGENT", "agent_unavailable"],
  ] as const)("%s ends FAILED/%s, and no callee is dialled", async (type, reason) => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const call = await world.app.calls.create(ALICE, {
      instanceId: instance.id,
      type,
      target: { phoneNumber: NUMBER },
      agent: { instructions: ["Say hello"] },
    });
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason, heardMs: 0, heardRatio: null, durationMs: 0 },
    });
    expect(world.network.legs).toEqual([]);
    expect(await world.eventTypes(call)).toEqual(["queued", "failed"]);
    await world.stop();
  });
});

test("ended calls leave no timer except the line's probe", async () => {
  const world = await World.start();
  const instance = await world.activeInstance();
  const idleTimers = world.system.waiting;
  for (let i = 0; i < 3; i++) {
    const { call } = await world.answeredCall(instance);
    await world.system.advance(3_000);
    expect((await world.storedCall(call)).status).toBe("COMPLETED");
  }
  // The queue's own timer was set by the first creation and fires once.
  expect(world.system.waiting).toBeLessThanOrEqual(idleTimers + 1);
  await world.stop();
  expect(world.system.waiting).toBe(0);
});
