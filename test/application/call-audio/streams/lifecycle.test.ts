import { describe, expect, test } from "vitest";
import type { StreamAttachment } from "../../../../src/application/call-audio/streams/stream-client.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";
import type { Call } from "../../../../src/domain/calls/call.ts";
import { CLOSED_BEFORE_ANSWER } from "../../../../src/domain/calls/call-flow.ts";
import type { Instance } from "../../../../src/domain/instances/instance.ts";
import { ALICE, World } from "../../../support/application.ts";
import { answeredStream, attach, RecordingClient, streamCall } from "../../../support/recording-client.ts";

const start = (options = {}) => World.start({ streamPreview: true, ...options });

async function endOf(world: World, call: Call) {
  const { status, outcome } = await world.storedCall(call);
  const endEvents = (await world.eventTypes(call)).filter((type) => type === "completed" || type === "failed");
  expect(endEvents.length).toBeLessThanOrEqual(1);
  return [status, outcome?.reason];
}

describe("a client that ends the call before the answer", () => {
  const waysToLeave: [string, (attachment: StreamAttachment) => void][] = [
    ["hangUp", (attachment) => attachment.hangUp()],
    ["detach", (attachment) => attachment.detach(true)],
  ];

  test.each(waysToLeave)("ends a call that waits for its line at once (%s)", async (_, leave) => {
    const world = await start();
    const instance: Instance = await world.newInstance();
    const call = await streamCall(world, instance);
    const client = new RecordingClient();
    const attachment = await attach(world, call, client);
    attachment.write(tone(440, 1_000, 16_000, 9_000), 16_000);
    leave(attachment);
    await world.system.settle();
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "terminated",
      detail: CLOSED_BEFORE_ANSWER,
      heardMs: 0,
      heardRatio: null,
    });
    expect(await endOf(world, call)).toEqual(["FAILED", "terminated"]);
    expect(world.network.legs).toEqual([]);
    const next = await streamCall(world, instance);
    expect(next.id, "its place in the queue is free").not.toBe(call.id);
    await world.stop();
  });

  test.each(waysToLeave)("ends a call that rings (%s)", async (_, leave) => {
    const world = await start();
    const call = await streamCall(world, await world.activeInstance());
    const attachment = await attach(world, call);
    const leg = world.leg(call);
    leg.placed();
    await world.system.settle();
    attachment.write(tone(440, 1_000, 16_000, 9_000), 16_000);
    leave(attachment);
    await world.system.settle();
    expect(await endOf(world, call)).toEqual(["FAILED", "terminated"]);
    expect(leg.hangUps).toBeGreaterThan(0);
    await world.stop();
  });

  test("ends the call despite a pending claim, and after its return to the queue", async () => {
    const world = await start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await streamCall(world, instance);
    const attachment = await attach(world, call);
    attachment.hangUp();
    release();
    await world.system.settle();
    expect(await endOf(world, call)).toEqual(["FAILED", "terminated"]);

    const nextCall = await streamCall(world, instance);
    const client = new RecordingClient();
    const second = await attach(world, nextCall, client);
    world.leg(nextCall).end("line_lost");
    await world.system.settle();
    expect((await world.storedCall(nextCall)).status, "it waits again").toBe("QUEUED");
    second.hangUp();
    await world.system.settle();
    expect(await endOf(world, nextCall)).toEqual(["FAILED", "terminated"]);
    expect([client.eventNames, client.ends]).toEqual([["failed"], ["failed"]]);
    await world.stop();
  });

  test("ends the call even if the storage is down for a while", async () => {
    const world = await start();
    const call = await streamCall(world, await world.newInstance());
    const attachment = await attach(world, call);
    world.storage.isDown = true;
    attachment.detach(true);
    await world.system.advance(30_000);
    world.storage.isDown = false;
    await world.system.advance(10_000);
    expect(await endOf(world, call)).toEqual(["FAILED", "terminated"]);
    await world.stop();
  });
});

describe("a client that hangs up during the call", () => {
  test("is heard to the end, and a little silence, before the call is COMPLETED", async () => {
    const world = await start();
    const client = new RecordingClient();
    const { call, leg, attachment } = await answeredStream(world, client);
    const words = tone(440, 2_000, 8_000, 9_000);
    attachment.write(words, 8_000);
    attachment.hangUp();
    attachment.write(tone(880, 500, 8_000, 9_000), 8_000);
    await world.system.advance(2_000);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    await world.system.advance(400);
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "stream_closed", heardMs: 2_000, heardRatio: null, answeredBy: "unknown" },
    });
    const first = leg.heard.findIndex((sample) => sample !== 0) - 1;
    expect(leg.heard.subarray(first, first + words.length)).toEqual(words);
    expect(leg.heard.subarray(first + words.length).every((sample) => sample === 0)).toBe(true);
    expect(client.eventNames).toEqual(["ringing", "answered", "transcripts_unavailable", "completed"]);
    expect(client.latestEvent("completed")?.data).toEqual({ reason: "stream_closed" });
    expect(client.ends).toEqual(["completed"]);
    await world.stop();
  });

  test("is heard to the end after a close or a broken connection", async () => {
    for (const isIntentional of [true, false]) {
      const world = await start();
      const { call, attachment } = await answeredStream(world);
      attachment.write(tone(440, 20_000, 8_000, 9_000), 8_000);
      attachment.hangUp();
      await world.system.advance(1_000);
      attachment.detach(isIntentional);
      await world.system.advance(18_000);
      expect((await world.storedCall(call)).status, "longer than a client may be away").toBe("IN_PROGRESS");
      await world.system.advance(2_000);
      expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "stream_closed", heardMs: 20_000 });
      await world.stop();
    }
  });

  test("ends the call at once if it clears the audio before or after", async () => {
    for (const order of ["clear, hang up", "hang up, clear"]) {
      const world = await start();
      const client = new RecordingClient();
      const { call, attachment } = await answeredStream(world, client);
      attachment.write(tone(440, 20_000, 8_000, 9_000), 8_000);
      await world.system.advance(1_000);
      for (const step of order.split(", ")) step === "clear" ? attachment.clear() : attachment.hangUp();
      await world.system.settle();
      expect((await world.storedCall(call)).outcome, order).toMatchObject({ reason: "stream_closed", heardMs: 1_000 });
      expect(client.latestEvent("cleared")?.data).toEqual({ heard_ms: 1_000 });
      await world.stop();
    }
  });

  test("cannot be replaced by another client", async () => {
    const world = await start();
    const { call, attachment } = await answeredStream(world);
    attachment.write(tone(440, 5_000, 8_000, 9_000), 8_000);
    attachment.detach(true);
    await expect(attach(world, call)).rejects.toMatchObject({ code: "call_ended" });
    await world.system.advance(6_000);
    expect(await endOf(world, call)).toEqual(["COMPLETED", "stream_closed"]);
    await world.stop();
  });

  test("ends the call once if the callee hangs up first", async () => {
    const world = await start();
    const { call, leg, attachment } = await answeredStream(world);
    attachment.write(tone(440, 1_000, 8_000, 9_000), 8_000);
    attachment.hangUp();
    await world.system.advance(980);
    leg.end("callee_hung_up");
    await world.system.settle();
    const deletion = world.app.calls.hangUp(ALICE, call.id);
    await expect(deletion).rejects.toMatchObject({ code: "call_not_found" });
    expect(await endOf(world, call)).toEqual(["COMPLETED", "callee_hung_up"]);
    await world.stop();
  });

  test("is heard to the end after a hold", async () => {
    const world = await start();
    const { call, leg, attachment } = await answeredStream(world);
    leg.hold();
    attachment.write(tone(440, 1_000, 8_000, 9_000), 8_000);
    attachment.hangUp();
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    leg.resume();
    await world.system.advance(1_400);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "stream_closed", heardMs: 1_000 });
    await world.stop();
  });
});

describe("a call without a client", () => {
  test("is lost ten seconds after the answer", async () => {
    const world = await start();
    const call = await streamCall(world, await world.activeInstance());
    world.leg(call).placed();
    await world.system.advance(20_000);
    world.leg(call).answer();
    await world.system.advance(9_900);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    await world.system.advance(200);
    expect(await endOf(world, call)).toEqual(["FAILED", "stream_lost"]);
    await world.stop();
  });

  test("is lost ten seconds after the connection broke, unless a client reconnects in time", async () => {
    const world = await start();
    const { call, attachment } = await answeredStream(world);
    await world.system.advance(15_000);
    attachment.detach(false);
    await world.system.advance(9_900);
    const second = await attach(world, call);
    await world.system.advance(15_000);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    second.detach(false);
    await world.system.advance(10_100);
    expect(await endOf(world, call)).toEqual(["FAILED", "stream_lost"]);
    await world.stop();
  });

  test("plays the rest of the queue, and a client that reconnects continues it", async () => {
    const world = await start();
    const { leg, call, attachment } = await answeredStream(world);
    attachment.write(tone(440, 3_000, 8_000, 9_000), 8_000);
    attachment.detach(false);
    attachment.write(tone(999, 3_000, 8_000, 9_000), 8_000);
    await world.system.advance(1_000);
    const second = await attach(world, call);
    expect(second.queuedMs).toBeCloseTo(2_000, 6);
    second.write(tone(440, 1_000, 8_000, 9_000), 8_000);
    await world.system.advance(5_000);
    const heard = leg.heard;
    const startIndex = heard.findIndex((sample) => sample !== 0) - 1;
    expect(heard.subarray(startIndex, startIndex + 24_000)).toEqual(tone(440, 3_000, 8_000, 9_000));
    expect(heard.subarray(startIndex + 24_000, startIndex + 32_000)).toEqual(tone(440, 1_000, 8_000, 9_000));
    await world.stop();
  });
});

describe("a stream's reservation", () => {
  test("admits one client, even before it attaches, and the next one once it has left", async () => {
    const world = await start();
    const call = await streamCall(world, await world.activeInstance());
    const reservations = await Promise.allSettled([
      world.app.calls.stream(ALICE, call.id),
      world.app.calls.stream(ALICE, call.id),
    ]);
    expect(reservations.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(reservations.find((reservation) => reservation.status === "rejected")?.reason).toMatchObject({
      code: "stream_already_attached",
    });
    const reservation = reservations.find((result) => result.status === "fulfilled")!.value;
    reservation.release();
    reservation.release();
    const attachment = await attach(world, call);
    await expect(attach(world, call)).rejects.toMatchObject({ code: "stream_already_attached" });
    attachment.detach(false);
    (await attach(world, call)).detach(true);
    await world.system.settle();
    expect(await endOf(world, call)).toEqual(["FAILED", "terminated"]);
    await expect(attach(world, call)).rejects.toMatchObject({ code: "call_ended" });
    await world.stop();
  });

  test("expires if the client does not attach", async () => {
    const world = await start();
    const call = await streamCall(world, await world.activeInstance());
    const lateStream = await world.app.calls.stream(ALICE, call.id);
    await world.system.advance(10_001);
    const attachment = await attach(world, call);
    expect(() => lateStream.attach(new RecordingClient())).toThrow(
      expect.objectContaining({ code: "stream_already_attached" }),
    );
    lateStream.release();
    expect(attachment.queuedMs).toBe(0);
    await expect(attach(world, call)).rejects.toMatchObject({ code: "stream_already_attached" });
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("is refused for an unsupported rate", async () => {
    const world = await start();
    const call = await streamCall(world, await world.activeInstance());
    for (const rate of [0, 1, 8_001, 8_000.5, 200_000, Number.NaN])
      await expect(attach(world, call, new RecordingClient(rate)), String(rate)).rejects.toBeInstanceOf(RangeError);
    await attach(world, call, new RecordingClient(44_100));
    await world.stop();
  });
});
